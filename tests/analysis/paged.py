from calque.analysis.papers.align_mlm import align_mlm_claims, alignment_table, scores_table
from calque.analysis.papers.figures import correlation_figure, delta_figure
from calque.analysis.report.claims import claims_table
from calque.analysis.report.page import Curves, Report, write_page
from tests.analysis.toy import joined, toy_published, toy_records

ATTACK = '<script>alert("1")</script>'
EXAMPLE = f"source      Sara\ntrans       {ATTACK}\n"
ABOUT = {"of": 499, "gradient norm": 0.5, "learning rate": 1.0, "tokens/s": 4000.0}
ROWS = [{"step": step, "tokens": 1024 * step, "loss": {"mlm": 5 / step}, **ABOUT} for step in range(1, 500)]
PROBES = [{"step": step, "probe": {"all": step / 500}} for step in (100, 300)]


def toy_page(folder, printed=True):
    results = joined(toy_records(2), toy_published() if printed else [])
    plots = [delta_figure(results), correlation_figure(results)]
    report = Report(
        title="Study <1> & more",
        scale="toy",
        question="Which objective loses least?",
        example=EXAMPLE,
        plots=[plot for plot in plots if plot],
        tables={
            "table-3": scores_table(results),
            "table-8": alignment_table(results),
            "claims": claims_table(results, list(align_mlm_claims(results))),
        },
        curves=[Curves(name, "#0072b2", [*ROWS, *PROBES]) for name in ("MLM", f"X {ATTACK}")],
        exclusions=["3 pairs longer than a row", f"a <unk> & {ATTACK}"],
        facts=[("torch", "2")],
    )
    write_page(folder / "report.html", report)
    return folder / "report.html"
