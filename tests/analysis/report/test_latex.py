"""Tables as LaTeX."""

import re

from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.report.latex import escaped, latex
from calque.analysis.report.table import Table

SPECIAL = "\\&%$#_{}~^±Δ−–"


@given(st.text(alphabet=f"ab1 {SPECIAL}"))
def test_nothing_special_is_left(text: str) -> None:
    latex = escaped(text)
    rest = re.sub(r"\\text\w+\{\}|\$\\?[\w-]+\$|\\[&%$#_{}]", "", latex)
    assert not set(rest) & set(SPECIAL)
    assert len(re.findall("[ab1 ]", rest)) == len(re.findall("[ab1 ]", text))


def test_a_table_has_a_line_for_each_row() -> None:
    table = Table("100 % & Δ", ("model_a", "POS Δ"), (("MLM_1", "34.6 ± 2.1"), ("XLM", "–")), "a note")
    lines = latex(table, "table-3").splitlines()
    rows = [line for line in lines if line.endswith(r"\\")]
    assert rows == [r"model\_a & POS $\Delta$ \\", r"MLM\_1 & 34.6 $\pm$ 2.1 \\", r"XLM & -- \\"]
    assert {r"\begin{tabular}{lr}", r"\caption{100 \% \& $\Delta$}", r"\label{tab:table-3}"} <= {*lines}
    assert [line for line in lines if "rule" in line] == [r"\toprule", r"\midrule", r"\bottomrule"]
