"""Tables, figures and the page that shows them, independent of any paper."""
