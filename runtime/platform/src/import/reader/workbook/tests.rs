//! Workbooks as programs write them, and those that were made to harm the server.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::import::reader::tests::read_bytes;
use crate::import::reader::{Cell, MAX_ROW_BYTES, Row};

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Parts of a workbook: name and text of each.
type Parts = Vec<(String, String)>;

fn relation(id: &str, kind: &str, target: &str) -> String {
    format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
}

fn relations(all: &str) -> String {
    format!("<Relationships>{all}</Relationships>")
}

fn workbook(sheet: &str) -> Parts {
    let list = format!(
        "<workbook xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"A\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
    );
    let parts = [
        ("_rels/.rels", relations(&relation("r1", "officeDocument", "xl/workbook.xml"))),
        ("xl/workbook.xml", list),
        ("xl/_rels/workbook.xml.rels", relations(&relation("r1", "worksheet", "worksheets/sheet1.xml"))),
        ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{sheet}</sheetData></worksheet>")),
    ];
    parts.into_iter().map(|(name, text)| (name.to_string(), text)).collect()
}

/// The parts with another part, or another text of one.
fn with(mut parts: Parts, name: &str, text: impl Into<String>) -> Parts {
    parts.retain(|(known, _)| known != name);
    parts.push((name.into(), text.into()));
    parts
}

fn packed(parts: &Parts) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).compression_level(Some(1));
    for (name, text) in parts {
        writer.start_file(name.as_str(), options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read(parts: &Parts) -> Result<(Vec<String>, Vec<Row>), String> {
    read_bytes(&packed(parts))
}

fn problem(parts: &Parts) -> String {
    read(parts).map(|_| ()).expect_err("the workbook is refused")
}

/// The rows below the first, each with the texts of its cells.
fn texts(parts: &Parts) -> Vec<(i64, Vec<String>)> {
    let text = |cell: Cell| if let Cell::Text(text) = cell { text } else { String::new() };
    let texts = |row: Row| (row.number, row.cells.unwrap().into_iter().map(text).collect());
    read(parts).unwrap().1.into_iter().map(texts).collect()
}

fn inline(at: &str, text: &str) -> String {
    format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

/// A sheet with the columns `a` and `b`, and these rows below.
fn sheet(rows: &str) -> Parts {
    workbook(&format!("<row r=\"1\">{}{}</row>{rows}", inline("A1", "a"), inline("B1", "b")))
}

#[test]
fn cells_are_read_by_their_types() {
    let rows = [
        "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>1</v></c><c r=\"B2\" t=\"s\"><v>2</v></c></row>",
        "<row r=\"4\"><c r=\"A4\" s=\"1\"><v>46102.5</v></c><c r=\"B4\" s=\"2\"><v>46102</v></c></row>",
        "<row r=\"5\"><c r=\"A5\"><f>B5*2</f><v>0.30000000000000004</v></c><c r=\"B5\" t=\"b\"><v>1</v></c></row>",
        "<row r=\"6\"><c r=\"A6\" t=\"str\"><f>C1</f><v>x_x000D_y &amp; z</v></c><c r=\"B6\" s=\"3\"><v>7</v></c></row>",
        "<row><c><v>1e3</v></c><c t=\"d\"><v>2026-01-02</v></c></row>",
        "<row/><row><c t=\"inlineStr\"><is><t xml:space=\"preserve\"> a </t></is></c><c><v/></c></row>",
    ];
    let parts = with(
        sheet(&rows.concat()),
        "xl/styles.xml",
        "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"dd.mm.yyyy\"/></numFmts><cellStyleXfs><xf numFmtId=\"14\"/>\
         </cellStyleXfs><cellXfs><xf/><xf numFmtId=\"22\"/><xf numFmtId=\"164\"/><xf numFmtId=\"2\"/></cellXfs></styleSheet>",
    );
    let shared = "<sst count=\"3\" uniqueCount=\"3\"><si/><si><t> Gr&#252;n </t></si><si><r><t>ri</t></r><r><rPr><b/></rPr>\
                  <t xml:space=\"preserve\">ch </t></r><rPh><t>hint</t></rPh></si></sst>";
    let parts = with(parts, "xl/sharedStrings.xml", shared);
    let expected = [
        (2, ["Gr\u{fc}n", "rich "]),
        (4, ["2026-03-21T12:00:00", "2026-03-21"]),
        (5, ["0.3", "true"]),
        (6, ["x\ry & z", "7"]),
        (7, ["1000", "2026-01-02"]),
        (9, [" a ", ""]),
    ];
    assert_eq!(texts(&parts), expected.map(|(number, texts)| (number, texts.map(String::from).to_vec())));
}

#[test]
fn first_visible_sheet_is_found_wherever_it_is() {
    let rows = "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>day</v></c></row><row r=\"2\"><c r=\"A2\" s=\"0\"><v>44638</v></c></row>";
    let list = format!(
        "<w:workbook xmlns:w=\"m\" xmlns:x=\"{OFFICE}\"><w:workbookPr date1904=\"1\"/><w:sheets>\
         <w:sheet name=\"Chart\" x:id=\"c\"/><w:sheet name=\"Old\" state=\"hidden\" x:id=\"o\"/><w:sheet name=\"New\" x:id=\"n\"/>\
         </w:sheets></w:workbook>"
    );
    let all = [
        relation("c", "chartsheet", "chart.xml"),
        relation("o", "worksheet", "old.xml"),
        relation("n", "worksheet", "/Data/../data/./New.xml"),
        relation("s", "styles", "look.xml"),
    ];
    let parts = [
        ("_rels/.rels", relations(&relation("r1", "officeDocument", "/main.xml"))),
        ("main.xml", list),
        ("_rels/main.xml.rels", relations(&all.concat())),
        ("old.xml", "<worksheet/>".into()),
        ("look.xml", "<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>".into()),
        ("data\\new.xml", format!("<w:worksheet xmlns:w=\"m\"><w:sheetData>{rows}</w:sheetData></w:worksheet>")),
    ];
    let parts: Parts = parts.into_iter().map(|(name, text)| (name.to_string(), text)).collect();
    assert_eq!(texts(&parts), [(2, vec!["2026-03-19".to_string()])]);
}

#[test]
fn counts_that_a_workbook_claims_are_not_trusted() {
    let row = "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c></row>";
    for count in ["100000000000000", "9999999999999999999", "-1", "x"] {
        let shared = format!("<sst uniqueCount=\"{count}\" count=\"{count}\"><si><t>x</t></si></sst>");
        let styles = format!("<styleSheet><cellXfs count=\"{count}\"><xf numFmtId=\"0\"/></cellXfs></styleSheet>");
        let parts = with(with(sheet(row), "xl/sharedStrings.xml", shared), "xl/styles.xml", styles);
        assert_eq!(texts(&parts), [(2, vec!["x".to_string(), String::new()])], "{count}");
    }
    for dimension in ["B9:A1", "A1:XFD99999999999", "ZZZZZZZZZZZZZZ1:A1", "A0:A0", ""] {
        let text =
            format!("<worksheet><dimension ref=\"{dimension}\"/><sheetData>{}</sheetData></worksheet>", inline_row());
        let parts = with(sheet(""), "xl/worksheets/sheet1.xml", text);
        assert_eq!(read(&parts).unwrap().0, ["a"], "{dimension}");
    }
}

fn inline_row() -> String {
    format!("<row r=\"1\">{}</row>", inline("A1", "a"))
}

#[test]
fn cells_that_no_sheet_has_are_refused() {
    let cell = |at: &str| format!("<row r=\"2\"><c r=\"{at}\"><v>1</v></c></row>");
    for rows in ["ZZZZZZZZZZ2", "XFE2", "A0", "A", "2", "", "A-1", "A1048577", "A1", "A99999999999999999999", "\u{c4}2"]
        .map(cell)
    {
        assert!(problem(&sheet(&rows)).starts_with("is no workbook in the format XLSX: "), "{rows}");
    }
    for number in ["0", "-1", "1", "1048577", "4294967295", "5000000000", "99999999999999999999", "x"] {
        let rows = format!("<row r=\"{number}\"><c><v>1</v></c></row>");
        assert!(problem(&sheet(&rows)).starts_with("is no workbook in the format XLSX: "), "{rows}");
    }
    let last = "<row r=\"1048576\"><c r=\"A1048576\"><v>1</v></c></row>";
    assert_eq!(texts(&sheet(last))[0].0, 1_048_576);
    assert!(problem(&sheet(&format!("{last}<row/><row><c><v>1</v></c></row>"))).contains("row 1048577"));
    for cell in
        ["t=\"s\"><v>0</v>", "t=\"s\"><v>-1</v>", "t=\"b\"><v>2</v>", "t=\"?\"><v>2</v>", "t=\"str\"><v>&no;</v>"]
    {
        let rows = format!("<row r=\"2\"><c r=\"A2\" {cell}</c></row>");
        assert!(problem(&sheet(&rows)).starts_with("is no workbook in the format XLSX: "), "{rows}");
    }
    // A cell with an error, and one far to the right, refuse their rows only.
    let rows = "<row r=\"2\"><c r=\"A2\" t=\"e\"><v>#SPILL!</v></c></row><row r=\"3\"><c r=\"XFD3\"><v>1</v></c></row>";
    let errors: Vec<String> = read(&sheet(rows)).unwrap().1.into_iter().map(|row| row.cells.unwrap_err()).collect();
    assert_eq!(errors, ["has the error #SPILL! in a cell", "has a value in column 16384"]);
}

#[test]
fn text_that_unpacks_to_too_much_is_refused_wherever_it_is() {
    let long = "a".repeat(MAX_ROW_BYTES + 20_000);
    let in_two = format!("{}&amp;{}", &long[..MAX_ROW_BYTES / 2], &long[..MAX_ROW_BYTES / 2]);
    let row = |cells: &str| sheet(&format!("<row r=\"2\">{cells}</row>"));
    let value = |text: &str| row(&format!("<c r=\"A2\" t=\"str\"><v>{text}</v></c>"));
    let list = workbook("")[1].1.clone();
    let comment = |text: &str| text.replacen('>', &format!("><!--{long}-->"), 1);
    for (parts, expected) in [
        (row(&inline("A2", &long)), "text of more than"),
        (row(&inline("A2", &in_two)), "text of more than"),
        (value(&long), "text of more than"),
        (value(&in_two), "text of more than"),
        (row(&format!("{}{}", inline("A2", &long[..600_000]), inline("B2", &long[..600_000]))), "in row 2"),
        (with(sheet(""), "xl/sharedStrings.xml", format!("<sst><si><t>{long}</t></si></sst>")), "text of more than"),
        (with(sheet(""), "xl/workbook.xml", comment(&list)), "text of more than"),
        (with(sheet(""), "xl/_rels/workbook.xml.rels", comment(&relations(""))), "text of more than"),
        (with(sheet(""), "_rels/.rels", comment(&relations(""))), "text of more than"),
        (with(sheet(""), "xl/styles.xml", comment("<styleSheet></styleSheet>")), "text of more than"),
        (with(sheet(""), "xl/styles.xml", format!("<{long}/>")), "text of more than"),
    ] {
        let message = problem(&parts);
        assert!(message.contains(expected) && message.len() < 300, "{message}");
    }
    // Parts that stay in memory are limited whatever their names are.
    let filled = |name: &str| format!("<{name}>{}</{name}>", format!("{}<x/>", " ".repeat(1 << 19)).repeat(98));
    for name in
        ["_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml", "xl/sharedStrings.xml"]
    {
        assert!(problem(&with(sheet(""), name, filled("x"))).contains("too large"), "{name}");
    }
    let moved: Parts =
        sheet("").into_iter().map(|(name, text)| (name.replace("xl/", "w/"), text.replace("xl/", "w/"))).collect();
    assert!(problem(&with(moved, "w/sharedStrings.xml", filled("sst"))).contains("too large"));
    // A part that is not read does not count.
    assert!(read(&with(sheet(""), "xl/media/film.xml", filled("x"))).is_ok());
}

#[test]
fn shared_text_counts_in_each_cell_that_has_it() {
    let shared = format!("<sst><si><t>{}</t></si></sst>", "a".repeat(1_000_000));
    let rows: String =
        (2..1_200).map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\" t=\"s\"><v>0</v></c></row>")).collect();
    assert!(problem(&with(sheet(&rows), "xl/sharedStrings.xml", shared.clone())).contains("too large"));
    let rows = "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c><c r=\"B2\" t=\"s\"><v>0</v></c></row>";
    assert!(problem(&with(sheet(rows), "xl/sharedStrings.xml", shared)).contains("in row 2"));
}

#[test]
fn deep_elements_truncated_parts_and_long_directories_are_refused() {
    for text in
        ["<x>".repeat(1_000_000), "<worksheet><sheetData><row r=\"1\">".into(), "<a></b>".into(), "\u{fffd}<".into()]
    {
        let message = problem(&with(sheet(""), "xl/worksheets/sheet1.xml", text));
        assert!(message.starts_with("is no workbook in the format XLSX: "), "{message}");
    }
    let all: String = (0..11_000).map(|number| relation(&format!("i{number}"), "worksheet", "x")).collect();
    assert!(problem(&with(sheet(""), "xl/_rels/workbook.xml.rels", relations(&all))).contains("too many relations"));
    // Attributes are not compared with each other.
    let attributes: String = (0..60_000).map(|number| format!(" a{number}=\"\"")).collect();
    assert_eq!(texts(&sheet(&format!("<row r=\"2\"{attributes}><c r=\"A2\"><v>1</v></c></row>"))).len(), 1);
    let mut many = sheet("");
    many.extend((0..60_000).map(|number| (format!("xl/media/{number:050}"), String::new())));
    assert!(problem(&many).contains("too many parts"));
}

#[test]
fn damaged_workbooks_are_refused_and_never_panic() {
    let rows = "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c><c r=\"B2\" s=\"1\"><v>46102.5</v></c></row>";
    let parts = with(sheet(rows), "xl/sharedStrings.xml", "<sst uniqueCount=\"1\"><si><t>x &lt; y</t></si></sst>");
    let parts = with(parts, "xl/styles.xml", "<styleSheet><cellXfs><xf/><xf numFmtId=\"22\"/></cellXfs></styleSheet>");
    for (index, (name, text)) in parts.iter().enumerate() {
        for (at, byte) in (0..text.len()).zip(["", "<", "9"].into_iter().cycle()) {
            let mut damaged = parts.clone();
            damaged[index].1 = format!("{}{byte}{}", &text[..at], &text[at + 1..]);
            if let Err(problem) = read(&damaged) {
                assert!(problem.len() < 300, "{name}: {problem}");
            }
        }
    }
    let bytes = packed(&parts);
    for at in 4..bytes.len() {
        for byte in [0xff, bytes[at] ^ 1] {
            let mut damaged = bytes.clone();
            damaged[at] = byte;
            drop(read_bytes(&damaged));
        }
        drop(read_bytes(&bytes[..at]));
    }
}
