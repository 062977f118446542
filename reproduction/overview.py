"""One table over several runs: each claim of the paper, its verdict here, and the run that decides it.

    python -m reproduction.overview docs/paper/index.md ml20m ml20m-twentieth ncf-ml1m gowalla ...

The table replaces what stands between the two marks in the page. The runs are folders beside the page, in the
order in which they are asked: the first run that could judge a claim decides it.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ialspp.files.atomic import whole_file

from .claims.findings import Finding
from .claims.table import Claim, judge_claims
from .journal import read_run
from .report.writing import plain

BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
HOLDS, FAILS, DEPENDS, OPEN = "holds", "does not hold", "depends on the run", "not measured"
COLUMNS = ("no.", "the paper says", "its value", "verdict", "here", "decided by", "why not")


@dataclass(frozen=True, slots=True)
class Decision:
    """What all runs together say about a claim: for each run that decides it, what it found."""

    claim: Claim
    findings: Mapping[str, Finding]

    @property
    def verdict(self) -> str:
        verdicts = {finding.holds for finding in self.findings.values()}
        if len(verdicts) > 1:
            return DEPENDS
        return {True: HOLDS, False: FAILS, None: OPEN}[verdicts.pop()]

    def row(self) -> tuple[str, ...]:
        """Write the claim as a line of the table."""
        measured = self.verdict != OPEN
        ours = [finding.ours for finding in self.findings.values()] if measured else []
        links = [f"[{name}]({name}/report.html)" for name in self.findings] if measured else []
        whys = [first_sentence(finding.why) for finding in self.findings.values() if finding.why]
        texts = self.claim.sentence, self.claim.paper, self.verdict, "; ".join(ours)
        return (str(self.claim.number), *map(plain, texts), ", ".join(links), plain("; ".join(whys)))


def decide(findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """Keep the first run with each verdict, or the first run where none could judge."""
    deciding: dict[bool, str] = {}
    for name, finding in findings.items():
        if finding.holds is not None:
            deciding.setdefault(finding.holds, name)
    names = deciding.values() or [next(iter(findings))]
    return {name: findings[name] for name in names}


def decisions(folders: Sequence[Path]) -> list[Decision]:
    """Judge all claims by all runs."""
    verdicts = {folder.name: judge_claims(read_run(folder)) for folder in folders}
    by_claim = zip(*verdicts.values(), strict=True)
    return [
        Decision(of_runs[0].claim, decide(dict(zip(verdicts, (v.finding for v in of_runs), strict=True))))
        for of_runs in by_claim
    ]


def first_sentence(text: str) -> str:
    """Cut a reason after its first sentence; the reports have it whole."""
    return text.split(". ")[0]


def table(decided: Sequence[Decision]) -> str:
    """Write the counts and the table as Markdown."""
    counts = Counter(decision.verdict for decision in decided)
    summary = (
        f"Of the paper's {len(decided)} quantitative sentences, {counts[HOLDS]} hold in every run that could "
        f"judge them, {counts[FAILS]} hold in none, {counts[DEPENDS]} hold in one run and not in another, "
        f"and {counts[OPEN]} were not measured."
    )
    lines = [f"| {' | '.join(cells)} |" for cells in (COLUMNS, ["---"] * len(COLUMNS))]
    lines += [f"| {' | '.join(decision.row())} |" for decision in decided]
    return "\n".join([summary, "", *lines])


def with_table(page: str, decided: Sequence[Decision]) -> str:
    """Replace what stands between the marks of a page."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"the page must have {BEGIN} and {END}, each once")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{table(decided)}\n\n{END}{after}"


def main() -> None:
    """Write the table into the page that the command names."""
    if len(sys.argv) < 3:
        raise SystemExit(f"usage: {(__doc__ or '').splitlines()[2].strip()}")
    page = Path(sys.argv[1])
    decided = decisions([page.parent / name for name in sys.argv[2:]])
    text = with_table(page.read_text(encoding="utf-8"), decided)
    with whole_file(page) as file:
        file.write(text.encode())


if __name__ == "__main__":
    main()
