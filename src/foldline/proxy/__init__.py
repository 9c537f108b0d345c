"""
The proxy: between an unchanged agent and its provider.

A client sends its whole history with every request. The proxy finds the session that the history
continues, sends what that session shows, and passes everything else on as it came. Whatever goes
wrong in here, the original request goes out.
"""
