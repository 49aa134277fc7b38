"""Tables, figures and the page that shows them; nothing here is specific to a paper."""
