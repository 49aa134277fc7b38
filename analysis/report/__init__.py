"""Tables, figures and the page that shows them; nothing here is about a particular paper."""
