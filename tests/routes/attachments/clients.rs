//! `POST /attachments` as clients write it: file names in each of their forms, and documents of office libraries.

use super::{Form, member};
use crate::support::{Server, on_both};

on_both!(
    file_name_is_read_in_every_form_of_clients,
    form_parameters_have_names_in_any_case,
    part_with_a_transfer_encoding_is_refused,
    office_document_of_a_library_has_its_own_type,
);

async fn file_name_is_read_in_every_form_of_clients(server: Server) {
    let member = member(&server).await;
    for (parameters, expected) in [
        ("filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%22x%22.pdf", "Größe \"x\".pdf"),
        // .NET writes both.
        ("filename=\"=?utf-8?B?R3LDtsOfZS5wZGY=?=\"; filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf", "Größe.pdf"),
        ("filename=\"=?utf-8?B?R3LDtsOfZS5wZGY=?=\"", "Größe.pdf"),
        ("filename==?iso-8859-1?Q?caf=E9.txt?=", "café.txt"),
        // Libraries of mail (RFC 2231).
        ("filename*1*=%9Fe.pdf; filename*0*=UTF-8''Gr%C3%B6%C3", "Größe.pdf"),
        // Browsers and curl.
        ("filename=\"say %22hi%22.txt\"", "say \"hi\".txt"),
        ("filename=\"a\\\\\\\"b.txt\"", "\"b.txt"),
        ("filename=plain name.txt", "plain name.txt"),
        // A decoded name is sanitized like any other.
        ("filename*=UTF-8''..%2F..%2Fetc%2Fpass%E2%80%AEwd%0A", "passwd"),
        ("filename*=UTF-8''%E9; filename=\"fallback.txt\"", "fallback.txt"),
    ] {
        let form = Form::default().on(&member).part(&format!("name=\"file\"; {parameters}"), "", b"x");
        assert_eq!(form.send(&server.admin()).await.created("attachment")["original_name"], expected, "{parameters}");
    }
}

async fn form_parameters_have_names_in_any_case(server: Server) {
    let member = member(&server).await;
    let form = Form::default()
        .part("NAME=attachable_type", "", b"Member")
        .part("Name=\"attachable_id\"", "", member["id"].to_string().as_bytes())
        // The name in another parameter is text.
        .part("filename=\"; name=category; \"; name=\"file\"", "", b"x")
        .part("x=\"name=file\"; name=category", "", b"contract");
    let attachment = form.send(&server.admin()).await.created("attachment");
    assert_eq!([&attachment["original_name"], &attachment["category"]], ["; name=category;", "contract"]);
}

async fn part_with_a_transfer_encoding_is_refused(server: Server) {
    let member = member(&server).await;
    for (encoding, status) in [("base64", 415), ("Quoted-Printable", 415), ("BINARY", 201), ("8bit", 201)] {
        let header = format!("Content-Transfer-Encoding: {encoding}\r\n");
        let form = Form::default().on(&member).part("name=\"file\"; filename=\"a\"", &header, b"aGVsbG8=");
        let response = form.send(&server.admin()).await;
        assert_eq!(response.status, status, "{encoding}: {}", response.text);
    }
}

async fn office_document_of_a_library_has_its_own_type(server: Server) {
    let member = member(&server).await;
    let office = "application/vnd.openxmlformats-officedocument.";
    for (members, expected) in [
        (
            &["docProps/app.xml", "word/document.xml", "_rels/.rels", "[Content_Types].xml"][..],
            "wordprocessingml.document",
        ),
        (&["xl/worksheets/sheet1.xml", "xl/workbook.xml", "[Content_Types].xml"], "spreadsheetml.sheet"),
        (&["_rels/.rels", "ppt/presentation2.xml", "[Content_Types].xml"], "presentationml.presentation"),
    ] {
        let form = Form::default().on(&member).file("a", &archive(members));
        let attachment = form.send(&server.admin()).await.created("attachment");
        assert_eq!(attachment["mime_type"], format!("{office}{expected}"));
    }
    for (members, expected) in [
        (
            &["[Content_Types].xml", "x.txt", "y", "xl/workbook.xml", "xl/vbaProject.bin"][..],
            "application/vnd.ms-excel.sheet.macroEnabled.12",
        ),
        (&["[Content_Types].xml", "other.xml"], "application/zip"),
        (&[], "application/zip"),
    ] {
        let form = Form::default().on(&member).file("a.docx", &archive(members));
        let attachment = form.send(&server.admin()).await.created("attachment");
        assert_eq!(attachment["mime_type"], expected, "{members:?}");
    }
    // An archive that ends early, and one whose directory lies.
    let whole = archive(&["a", "b", "c", "d", "word/document.xml", "[Content_Types].xml"]);
    let mut lying = whole.clone();
    let end = lying.len() - 22;
    lying[end + 16..end + 20].copy_from_slice(&u32::MAX.to_le_bytes());
    for bytes in [&whole[..whole.len() - 30], &lying] {
        let attachment = Form::default().on(&member).file("a", bytes).send(&server.admin()).await.created("attachment");
        assert_eq!(attachment["mime_type"], "application/zip");
    }
}

/// A ZIP archive of empty members.
fn archive(names: &[&str]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    let short = |number: usize| u16::try_from(number).expect("a short number").to_le_bytes();
    let long = |number: usize| u32::try_from(number).expect("a number").to_le_bytes();
    for name in names {
        let at = bytes.len();
        // Version, flags, method, time and date, checksum and sizes are those of an empty stored member.
        let common = [&short(20)[..], &[0; 20], &short(name.len()), &short(0)].concat();
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes()].concat());
        directory.extend([b"PK\x01\x02", &short(20)[..], &common, &[0; 10], &long(at), name.as_bytes()].concat());
    }
    let (at, length) = (bytes.len(), directory.len());
    bytes.extend(directory);
    let count = short(names.len());
    bytes.extend([b"PK\x05\x06", &[0; 4][..], &count, &count, &long(length), &long(at), &short(0)].concat());
    bytes
}
