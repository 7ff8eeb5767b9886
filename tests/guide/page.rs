//! Code blocks of a page: its commands, their answers, and its files.

/// A fenced code block.
#[derive(Debug)]
pub struct Block {
    /// Text after the opening fence, such as `sh` or `sh,not-run`.
    pub language: String,
    pub text: String,
    /// Index of the first line after the opening fence.
    pub first_line: usize,
    /// Name in the comment `<!-- file: receiver.py -->` before the block.
    pub file: Option<String>,
}

/// Commands that run, with the block of their answer.
pub struct Step<'a> {
    pub commands: &'a Block,
    /// The next block, if its language is one of [`ANSWERS`].
    pub answer: Option<&'a Block>,
}

/// Languages of answers.
const ANSWERS: [&str; 3] = ["json", "text", "yaml"];

/// Blocks of a page in their order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut is_open, mut file) = (false, None);
    for (index, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            if !is_open {
                let language = language.trim().to_string();
                found.push(Block { language, text: String::new(), first_line: index + 1, file: file.take() });
            }
            is_open = !is_open;
        } else if is_open {
            let block = found.last_mut().expect("a fence opened it");
            block.text.push_str(line);
            block.text.push('\n');
        } else if let Some(name) = comment(line, "file") {
            file = Some(name.to_string());
        }
    }
    found
}

/// Steps of a page in their order.
pub fn steps(blocks: &[Block]) -> Vec<Step<'_>> {
    let is_answer = |block: &&Block| block.file.is_none() && ANSWERS.contains(&block.language.as_str());
    let indexed = blocks.iter().enumerate().filter(|(_, block)| block.language == "sh");
    indexed.map(|(index, commands)| Step { commands, answer: blocks.get(index + 1).filter(is_answer) }).collect()
}

/// The page with new texts of blocks.
pub fn rewritten(page: &str, changes: &[(&Block, String)]) -> String {
    let mut lines: Vec<&str> = page.lines().collect();
    let mut changes: Vec<_> = changes.iter().collect();
    changes.sort_by_key(|(block, _)| std::cmp::Reverse(block.first_line));
    for (block, text) in changes {
        let end = block.first_line + block.text.lines().count();
        lines.splice(block.first_line..end, text.lines());
    }
    lines.join("\n") + "\n"
}

/// Words in the comment `<!-- name: word word -->`, if the page has it.
pub fn words<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    page.lines().find_map(|line| comment(line, name)).unwrap_or_default().split_whitespace().collect()
}

fn comment<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.strip_prefix("<!-- ")?.strip_prefix(name)?.strip_prefix(": ")?;
    rest.strip_suffix(" -->")
}

#[test]
fn page_is_split_into_steps_and_files() {
    let page = "<!-- file: a.py -->\n```python\nx\n```\n```sh\none\n```\n\n```json\n{}\n```\n```sh,not-run\ntwo\n```\n";
    let blocks = blocks(page);
    assert_eq!(blocks[0].file.as_deref(), Some("a.py"));
    let steps = steps(&blocks);
    assert_eq!(steps.len(), 1);
    let answer = steps[0].answer.unwrap();
    assert_eq!((steps[0].commands.text.as_str(), answer.text.as_str()), ("one\n", "{}\n"));
    assert_eq!(words("a\n<!-- needs: x y -->\n", "needs"), ["x", "y"]);
    assert_eq!(rewritten(page, &[(answer, "[]\n".into())]), page.replace("{}", "[]"));
}
