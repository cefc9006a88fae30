"""Hosts: what stands between the kernel and an event loop. Each is imported only where it is used."""
