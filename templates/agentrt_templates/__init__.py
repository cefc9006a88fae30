"""The projects that ``agentrt new`` makes: files as they are, in which ``mygame`` stands for the name of the project.

``common`` comes into each; a folder of a template's name comes on top. They are data: nothing here is imported.
"""
