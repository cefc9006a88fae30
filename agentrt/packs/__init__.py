"""AI packs: JSON that says what a character knows, resolved in a registry of aliases.

The way of a pack, one module for each step:

* ``document``  bytes from anybody -> bounded, strict JSON values;
* ``schema``    values -> all problems, as sentences with JSON pointers;
* ``loader``    values -> a frozen ``Pack``; mixing one pack into another;
* ``registry``  ``mod:kind:name`` -> the thing itself, filled by the manifests of installed packages;
* ``closure``   packs -> everything they hold and require, in one order; the report behind ``agentrt packs check``.

``alias`` holds the grammar of names and the table of kinds. Rule for all: data is never code. A pack can name only what
somebody registered, and whatever it holds, only an ``AgentRTError`` comes out.

Source: Stonehearth, AI: "Injecting actions".
"""
