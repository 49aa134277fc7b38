"""Tables, figures and the page that shows them; they know no paper."""
