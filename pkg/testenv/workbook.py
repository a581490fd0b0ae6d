"""Prints a workbook as openpyxl reads it: one JSON line a row, sheet after sheet.
A cell is null, {"b": bool}, {"n": text of the number}, {"t": ISO time} or {"s": text}."""
import datetime
import json
import sys
import warnings

import openpyxl

warnings.simplefilter("error")


def cell(c):
    v = c.value
    if v is None:
        return None
    if isinstance(v, bool):
        return {"b": v}
    if isinstance(v, (int, float)):
        return {"n": repr(v)}
    if isinstance(v, (datetime.datetime, datetime.date)):
        return {"t": v.isoformat(timespec="milliseconds")}
    assert c.data_type != "f", "a formula: %r" % v
    return {"s": v}


book = openpyxl.load_workbook(sys.argv[1], read_only=sys.argv[2] == "read-only")
for sheet in book.worksheets:
    for row in sheet.iter_rows():
        print(json.dumps([cell(c) for c in row]))
