"""Minds: a language model's thought as one candidate among quick rules. The extra ``llm`` has what a ``Model`` needs.

A runtime has one ``Mind``: its models, budgets, queue and cache. Agents think by it in actions that derive from
``Consider`` (choose one of several activities), ``Plan`` (several in order), ``Converse`` and ``Attend`` (talk) or
``Reflect`` (sum up what a ``MemoryStream`` holds). A ``Scripted`` stands in for a model wherever there is none: in
tests, in demos, in a branch of a recording.

Where each idea lies: ``asked`` what is asked and what comes of it; ``accounts`` who may use how much; ``model`` who
answers; ``mind`` the queue; ``prompt`` templates and quoting; ``menu`` what may be chosen; ``recall`` what is
remembered; ``consider`` and ``converse`` the actions.

Source: ours, minds.
"""

from agentrt.minds.accounts import Budget
from agentrt.minds.asked import Asked, ModelRequest
from agentrt.minds.consider import Consider, Minded, Plan, Reflect, consider
from agentrt.minds.converse import Attend, Conversation, Converse, Line, Talks
from agentrt.minds.menu import Choice, Option
from agentrt.minds.mind import Mind, Thought
from agentrt.minds.model import Model, Scripted
from agentrt.minds.prompt import Said
from agentrt.minds.recall import MemoryStream, Remembered

__all__ = [
    "Asked",
    "Attend",
    "Budget",
    "Choice",
    "Consider",
    "Conversation",
    "Converse",
    "Line",
    "MemoryStream",
    "Mind",
    "Minded",
    "Model",
    "Option",
    "Plan",
    "Reflect",
    "Remembered",
    "ModelRequest",
    "Said",
    "Scripted",
    "Talks",
    "Thought",
    "consider",
]
