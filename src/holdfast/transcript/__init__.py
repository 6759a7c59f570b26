"""Read the transcripts of coding agents and decode their lines into events.

Reading is incremental, from a saved cursor. Unknown types, missing keys and broken lines never
raise.
"""
