from calque.analysis.papers.align_mlm import align_mlm_claims, alignment_table, scores_table
from calque.analysis.papers.figures import correlation_figure, delta_figure
from calque.analysis.report.claims import claims_table
from calque.analysis.report.page import Report, write_page
from tests.analysis.toy import joined, toy_published, toy_records

ATTACK = '<script>alert("1")</script>'
EXAMPLE = f"source      Sara\ntrans       {ATTACK}\n"


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
        exclusions=["3 pairs longer than a row", f"a <unk> & {ATTACK}"],
        facts=[("torch", "2")],
    )
    write_page(folder / "report.html", report)
    return folder / "report.html"
