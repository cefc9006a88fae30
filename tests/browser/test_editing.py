"""Files of the world, edited on the page: as forms and as text, checked, saved and taken up while it runs."""

from __future__ import annotations

import importlib
import json
import re
import sys
import textwrap

import pytest
from edited import GROUPS, PACK, TREE, Den
from pages import HOSTILE, expect, fits, inspected

from agentrt.inspect import Inspector

pytestmark = pytest.mark.slow

MINUS, ANGLE = "\N{MINUS SIGN}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
DESK, PHONE = (1280, 800), (390, 844)
GOALS = """
    from agentrt.behavior import Behavior, BehaviorTree, decider, group
    from agentrt.goals import Goal, GoalSelector

    class Stare(Goal):
        def can_use(self):
            return True

    class Run(Behavior):
        pass

    TREE = BehaviorTree(group("ROOT")[decider("RUN", Run, decide=lambda at: 1.0)])
"""


@pytest.fixture
def den(tmp_path):
    return Den(tmp_path / "game", tmp_path)


@pytest.fixture
def opened(look):
    """Opens the page of a world, in the tab Edit, with a file."""

    def open_page(inspector, file="", **options):
        page = look(inspector.url, **options)
        page.get_by_role("tab", name="Edit").click()
        if file:
            expect(page.locator(f'.edit-file option[value="{file}"]')).to_be_attached()
            page.get_by_label("File", exact=True).select_option(file)
        return page

    return open_page


def editing(den, **options):
    return inspected(den.runtime, controls=True, editing=den.reloader, **options)


def text_of(page):
    return page.get_by_label("The text of the file")


def as_text(page):
    page.get_by_role("button", name="Text", exact=True).click()
    return text_of(page)


def save(page):
    page.get_by_role("toolbar", name="Edit").get_by_role("button", name="Save").click()


def said(page):
    return page.locator(".edit-said")


@pytest.mark.states(
    "tools: Page: Packs, task groups and selection trees are edited as forms; a change of one number is a diff of one line"
)
def test_one_number_in_a_form_is_a_diff_of_one_line(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/groups.json", size=PHONE)
        field = page.get_by_label("utility, high")
        expect(field).to_have_value("0.4")
        field.fill("0.25")
        expect(said(page)).to_have_text("No mistakes.")
        expect(page.locator(".edit-changes summary")).to_have_text(f"Changes: {MINUS}1 +1 lines")
        save(page)
        expect(said(page)).to_contain_text(f"Saved, {MINUS}1 +1 lines; taken up in tick")
        assert den.read("packs/groups.json").decode() == GROUPS.replace("0.4]", "0.25]")
        for size in (PHONE, DESK):
            fits(page, size)
            expect(field).to_be_visible()


@pytest.mark.states(
    "tools: Page: Packs, task groups and selection trees are edited as forms; a change of one number ..."
)
def test_a_pack_gains_and_loses_actions_while_it_runs(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        expect(page.locator(".edit-comment")).to_have_text('_about: "what a wolf knows"')
        page.get_by_role("button", name="Remove actions 2").click()
        save(page)
        expect(said(page)).to_contain_text("by 1 agent")
        assert den.read("packs/wolf.json").decode() == PACK.replace(',\n    "mod:actions:nap"', "")
        adder = page.get_by_label("Add to actions")
        adder.fill("mod:actions:nap")
        adder.press("Enter")
        expect(said(page)).to_have_text("No mistakes.")
        page.get_by_role("button", name="Move actions 2 up").click()
        page.keyboard.press("Control+s")
        expect(said(page)).to_contain_text(f"Saved, {MINUS}0 +1 lines; taken up")
        assert [one.__name__ for one in den.agent.actions] == ["Nap", "Howl"]
        swapped = PACK.replace("howl", "X").replace("nap", "howl").replace("X", "nap")
        assert den.read("packs/wolf.json").decode() == swapped


def test_an_empty_name_is_told(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        adder = page.get_by_label("Add to actions")
        adder.press("Enter")
        wrong = page.locator(".edit-add").filter(has=adder).get_by_role("alert")
        expect(wrong).to_have_text("Type a name first, as in mod:actions:name.")
        expect(adder).to_be_focused()
        adder.fill("m")
        expect(wrong).to_be_hidden()


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_selection_tree_as_a_form(opened, den, size):
    with editing(den) as inspector:
        page = opened(inspector, "trees/wolf.xml", size=size)
        condition = page.get_by_label("Leaf condition")
        condition.fill("Lat")
        wrong = page.locator(".edit-element.is-wrong")
        expect(wrong).to_have_count(1)
        expect(page.locator(".edit-node .edit-error").filter(has_text="Lat")).to_be_visible()
        expect(page.get_by_role("toolbar", name="Edit").get_by_role("button", name="Save")).to_be_disabled()
        condition.fill("Late and !Late")
        expect(wrong).to_have_count(0)
        page.get_by_role("button", name="Add default").click()
        expect(page.get_by_label("Variable default")).to_have_value("true")
        names = page.get_by_label("Leaf name")
        count = names.count()
        page.get_by_label("Add to Priority").select_option("leaf")
        expect(names).to_have_count(count + 1)  # else the one that was last is written over
        names.last.fill("Sleep")
        page.get_by_role("button", name="Remove Leaf").last.click()
        expect(names).to_have_count(count)
        save(page)
        expect(said(page)).to_contain_text("by 1 agent")
        now = TREE.replace('condition="Late"', 'condition="Late and !Late"')
        assert den.read("trees/wolf.xml").decode() == now.replace('name="Late"/>', 'name="Late" default="true"/>')


@pytest.mark.states(
    "tools: Page: What is typed is checked by the loaders of the world, with the place and the remedy beside it; what has mistakes is not saved"
)
def test_mistakes_in_the_text_stand_beside_their_lines_and_are_not_saved(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        area = as_text(page)
        area.fill(PACK.replace("mod:actions:nap", "mod:actions:nup").replace('"ai_packs"', '"ai_pack"'))
        problems = page.locator(".edit-problems li")
        expect(problems).to_have_count(1)
        expect(problems.first).to_contain_text("line 7")
        expect(problems.first).to_contain_text("Did you mean 'ai_packs'")
        expect(page.locator(".edit-gutter .is-wrong")).to_have_text("7")
        area.fill(PACK.replace("mod:actions:nap", "mod:actions:nup"))
        expect(problems.first).to_contain_text("Did you mean 'mod:actions:nap'")
        problems.first.get_by_role("button").click()
        expect(area).to_be_focused()
        assert page.evaluate(
            "(area => area.value.slice(area.selectionStart, area.selectionEnd))(document.activeElement)"
        ) == ('    "mod:actions:nup"')
        expect(page.locator(".edit-caret")).to_contain_text("line 5, column 1")
        page.keyboard.press("Control+s")
        page.get_by_role("button", name="Form", exact=True).click()
        expect(page.locator(".edit-row .edit-error").filter(has_text="nobody registered")).to_be_visible()
        assert den.read("packs/wolf.json").decode() == PACK


def test_the_schema_stands_at_the_caret_and_names_are_offered(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        area = as_text(page)
        area.fill(PACK.replace("mod:actions:nap", "mod:actions:na"))
        area.evaluate("(one) => one.setSelectionRange(one.value.indexOf(':na\"') + 3, one.value.indexOf(':na\"') + 3)")
        area.dispatch_event("click")
        expect(page.locator(".edit-caret")).to_contain_text(f"actions {ANGLE} 1")
        page.locator(".edit-offers").get_by_role("button", name="mod:actions:nap").click()
        expect(area).to_have_value(PACK)


@pytest.mark.states(
    "tools: Page: A file that was changed on the disk meanwhile is told, and is not written over unasked"
)
def test_a_file_that_was_changed_meanwhile(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        area = as_text(page)
        mine = PACK.replace("what a wolf knows", "mine")
        theirs = PACK.replace("what a wolf knows", "theirs")
        area.fill(mine)
        expect(said(page)).to_have_text("No mistakes.")
        den.write("packs/wolf.json", theirs)
        save(page)
        conflict = page.get_by_role("alert").filter(has_text="was changed on the disk")
        expect(conflict).to_contain_text('+   "_about": "theirs"')
        assert den.read("packs/wolf.json").decode() == theirs
        conflict.get_by_role("button", name="Take theirs").click()
        expect(area).to_have_value(theirs)
        area.press("Control+z")
        expect(area).to_have_value(mine)
        save(page)
        expect(said(page)).to_contain_text("Saved")
        assert den.read("packs/wolf.json").decode() == mine
        den.write("packs/wolf.json", theirs)
        area.fill(PACK)
        expect(said(page)).to_have_text("No mistakes.")
        save(page)
        conflict.get_by_role("button", name="Save mine over it").click()
        expect(said(page)).to_contain_text("Saved")
        assert den.read("packs/wolf.json").decode() == PACK


def test_while_it_is_paused_an_edit_waits_and_is_told(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        page.get_by_role("button", name="Pause").click()
        expect(page.locator(".reason")).to_have_text("paused by the inspector")
        page.get_by_role("button", name="Remove actions 2").click()
        expect(said(page)).to_have_text("No mistakes.")
        save(page)
        expect(said(page)).to_contain_text("it waits for the next tick")
        bar = page.locator(".waiting-edits")
        expect(bar).to_contain_text("packs/wolf.json will be taken up with the next tick")
        bar.get_by_role("button", name="Run one tick").click()
        expect(said(page)).to_contain_text("taken up in tick")
        expect(bar).to_be_hidden()


@pytest.mark.states(
    "tools: Page: An edit of a selection tree that is refused leaves the world as it was, and is told in red"
)
def test_what_only_the_running_world_knows_is_refused_in_red(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        expect(page.get_by_label("actions 1", exact=True)).to_be_visible()
        den.write("trees/wolf.xml", "<SelectionTrees><Sel")  # by another editor
        den.reloader.reload([den.folder / "trees/wolf.xml"])
        red = page.get_by_role("alert").filter(has_text="the old code goes on")
        expect(red).to_contain_text("trees/wolf.xml:1: it is not XML")
        page.get_by_label("File", exact=True).select_option("trees/wolf.xml")
        expect(page.locator(".edit-none")).to_contain_text("mend it as text")
        area = as_text(page)
        expect(page.locator(".edit-problems")).to_contain_text("it is not XML")
        area.fill(TREE)
        expect(said(page)).to_have_text("No mistakes.")
        save(page)
        expect(said(page)).to_contain_text("taken up")
        expect(red).to_be_hidden()


def test_undo_redo_and_revert(opened, den):
    with editing(den) as inspector:
        page = opened(inspector, "packs/wolf.json")
        bar = page.get_by_role("toolbar", name="Edit")
        page.get_by_role("button", name="Remove actions 2").click()
        page.get_by_role("button", name="Remove actions 1").click()
        area = as_text(page)
        expect(area).to_have_value(re.compile(r'"actions": \[\]'))
        bar.get_by_role("button", name="Undo").click()
        expect(area).to_have_value(PACK.replace(',\n    "mod:actions:nap"', ""))
        bar.get_by_role("button", name="Redo").click()
        expect(area).to_have_value(re.compile(r'"actions": \[\]'))
        expect(page.locator('.edit-file option[value="packs/wolf.json"]')).to_have_text("packs/wolf.json (changed)")
        page.get_by_label("File", exact=True).select_option("packs/base.json")
        expect(area).to_have_value('{"actions": []}\n')
        page.get_by_label("File", exact=True).select_option("packs/wolf.json")
        expect(area).to_have_value(re.compile(r'"actions": \[\]'))  # it is kept
        bar.get_by_role("button", name="Revert").click()
        expect(area).to_have_value(PACK)
        expect(bar.get_by_role("button", name="Save")).to_be_disabled()


@pytest.mark.states("tools: Page: Goals and trees in Python lead to their file and line")
def test_what_is_written_in_python_leads_to_its_line(opened, tmp_path, monkeypatch):
    folder = tmp_path / "game"
    folder.mkdir()
    (folder / "paged_goals.py").write_text(textwrap.dedent(GOALS), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    goals = importlib.import_module("paged_goals")
    selector = goals.GoalSelector()
    selector.add_goal(1, goals.Stare())
    den = Den(folder, tmp_path, drivers=[selector, goals.TREE.memory()])
    with editing(den, editor="vscode://file/{path}:{line}") as inspector:
        page = opened(inspector)
        rows = page.locator(".edit-places li")
        expect(rows).to_have_text(
            ["goalStarepaged_goals.py:5", "behavior treeROOTpaged_goals.py:12", "behaviorRunpaged_goals.py:9"]
        )
        link = rows.first.get_by_role("link")
        assert link.get_attribute("href") == f"vscode://file{(folder / 'paged_goals.py').as_posix()}:5"
        page.get_by_role("tab", name="Models").click()
        cards = page.locator(".models-view .card")
        expect(cards.filter(has_text="goal selector").locator(".model-sources")).to_have_text("Stare paged_goals.py:5")
        expect(cards.filter(has_text="behavior tree").locator(".model-sources")).to_have_text("paged_goals.py:12")
        cards.filter(has_text="selection tree").get_by_role("button", name="trees/wolf.xml").click()
        expect(page.get_by_role("tab", name="Edit")).to_have_attribute("aria-selected", "true")
        expect(page.get_by_label("Leaf condition")).to_have_value("Late")
    del sys.modules["paged_goals"]


@pytest.mark.states("tools: Page: Without controls no file is read or written, and it says so")
def test_without_controls_it_says_why(look, den):
    with inspected(den.runtime, editing=den.reloader) as inspector:
        page = look(inspector.url)
        tab = page.get_by_role("tab", name="Edit")
        expect(tab).to_have_class(re.compile("is-empty"))
        tab.click()
        expect(page.locator(".edit-view").get_by_role("note")).to_contain_text("made without controls")
        expect(page.locator(".edit-bar")).to_be_hidden()


def test_markup_is_text(opened, tmp_path):
    den = Den(tmp_path / "game", tmp_path)
    pack = json.dumps({f"_{HOSTILE}": HOSTILE, "actions": [], "components": {}}, indent=2)
    den.write("packs/base.json", pack)
    den.write("trees/wolf.xml", TREE.replace("of wolves", HOSTILE))
    with editing(den) as inspector:
        page = opened(inspector, "packs/base.json")
        expect(page.locator(".edit-comment")).to_contain_text(HOSTILE)
        page.get_by_label("Add to actions").fill(HOSTILE)
        page.get_by_label("Add to actions").press("Enter")
        expect(page.locator(".edit-problems li").first).to_contain_text("is not an alias")
        area = as_text(page)
        area.fill(f'{{"{HOSTILE}": []}}')
        expect(page.locator(".edit-problems li").first).to_contain_text("has no key")
        page.get_by_label("File", exact=True).select_option("trees/wolf.xml")
        expect(area).to_have_value(re.compile("onerror"))
        assert page.locator("img").count() == 0


def test_a_recording_says_where_files_are_edited(look, den, tmp_path):
    path = tmp_path / "run.agrt"
    with den.runtime.record(path):
        den.runtime.step()
    den.runtime.close()
    with Inspector(path, port=0, controls=True) as inspector:
        page = look(inspector.url)
        page.get_by_role("tab", name="Edit").click()
        expect(page.locator(".edit-view").get_by_role("note")).to_contain_text("agentrt dev --controls")


# --- texts ----------------------------------------------------------------------------------------------------------------

JSON_EDITS = [  # what is done with a text, what it was, what it is then
    ("remove", '["a", "b", "c"]', 1, '["a", "c"]'),
    ("remove", '["a", "b"]', 0, '["b"]'),
    ("remove", '[\n  "a",\n  "b"\n]', 1, '[\n  "a"\n]'),
    ("remove", '[ "a" ]', 0, "[]"),
    ("append", "[]", '"x"', '["x"]'),
    ("append", "{}", '"k": 1', '{ "k": 1 }'),
    ("append", '["a", "b"]', '"x"', '["a", "b", "x"]'),
    ("append", '[\n  "a"\n]', '"x"', '[\n  "a",\n  "x"\n]'),
    ("append", '[\n  "a"\n, "b"]', '"x"', '[\n  "a"\n, "b", "x"]'),
    ("append", '{"a": [1,2],\n "b": 2}', '"k": 1', '{"a": [1,2],\n "b": 2,\n "k": 1}'),
    ("swap", '["a",  "b" ,"c"]', 1, '["b",  "a" ,"c"]'),
]
XML_EDITS = [
    ("set", '<a  x="1"\n/>', "x", "2", '<a  x="2"\n/>'),
    ("set", "<a x = '1'/>", "x", "it's <&", "<a x = 'it&apos;s &lt;&amp;'/>"),
    ("set", "<a/>", "x", "1", '<a x="1"/>'),
    ("set", '<a y="1" x="1" />', "x", None, '<a y="1" />'),
    ("remove", "<a>\n  <b/>\n  <c/>\n</a>", 0, "", "<a>\n  <c/>\n</a>"),
    ("remove", "<a><b/><c/></a>", 0, "", "<a><c/></a>"),
    ("append", "<a>\n    <b/>\n</a>", "<x/>", "", "<a>\n    <b/>\n    <x/>\n</a>"),
    ("append", "<a/>", "<x/>", "", "<a>\n  <x/>\n</a>"),
    ("append", "<a></a>", "<x/>", "", "<a>\n  <x/>\n</a>"),
    ("append", "<a>\n <!-- c -->\n</a>", "<x/>", "", "<a>\n <!-- c -->\n <x/>\n</a>"),
]


def test_texts_keep_their_looks(look, den):
    with editing(den) as inspector:
        page = look(inspector.url)
        done = page.evaluate(
            """async ([jsonEdits, xmlEdits]) => {
                const json = await import("/static/jsontext.js");
                const xml = await import("/static/xmltext.js");
                const ofJson = ([what, text, one]) => {
                    const root = json.parseJson(text);
                    if (what === "remove") return json.removeEntry(text, root, one);
                    if (what === "append") return json.appendEntry(text, root, one);
                    return json.swapEntries(text, root, one, one - 1);
                };
                const ofXml = ([what, text, one, value]) => {
                    const root = xml.parseXml(text);
                    if (what === "set") return xml.setAttribute(text, root, one, value);
                    if (what === "remove") return xml.removeElement(text, root.children[one]);
                    return xml.appendChild(text, root, one);
                };
                return [jsonEdits.map(ofJson), xmlEdits.map(ofXml)];
            }""",
            [JSON_EDITS, XML_EDITS],
        )
        assert done == [[one[-1] for one in JSON_EDITS], [one[-1] for one in XML_EDITS]]
        hostile = page.evaluate(
            """async ([jsons, xmls]) => {
                const { parseJson } = await import("/static/jsontext.js");
                const { parseXml } = await import("/static/xmltext.js");
                return [jsons.map(parseJson), xmls.map(parseXml)];
            }""",
            [
                ["[" * 100_000, "", "[1,]", "{a: 1}", '{"a" 1}', "nul", '"', "[01]", '"\n"'],
                [
                    "<a>" * 100_000,
                    "",
                    "<a",
                    "<a></b>",
                    "<a x=1/>",
                    "<!DOCTYPE a><a/>",
                    "<a/><b/>",
                    "</a>",
                    '<a x="<"/>',
                ],
            ],
        )
        assert hostile == [[None] * 9, [None] * 9]
