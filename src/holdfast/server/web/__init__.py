"""The page for people: what agents know, and what compactions did to it. Server-rendered HTML.

Each module has the handlers and the view functions of one page. They call the services that the
command line calls, and contain no SQL.
"""
