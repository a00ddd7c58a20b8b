// What the search knows, in this order: sections of pages, declarations, guards, members.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocumentReflection, KindRouter, ReflectionKind, Slugger } from 'typedoc';

/** Sections that the search offers, by their anchors. */
const anchors = new WeakMap();
/** What the search shows below a result. */
const excerpts = new Map();

/** Writes the texts of results, which the page loads when a reader searches. */
export async function writeExcerpts(folder, router) {
  const texts = Object.fromEntries([...excerpts].map(([target, text]) => [router.getFullUrl(target), text]));
  await writeFile(join(folder, 'assets', 'excerpts.js'), `window.siteExcerpts = ${JSON.stringify(texts)};`);
}

/** Leads to sections of pages as well. */
export class SectionRouter extends KindRouter {
  getFullUrl(target) {
    const anchor = anchors.get(target);
    return anchor === undefined ? super.getFullUrl(target) : `${super.getFullUrl(target.parent)}#${anchor}`;
  }
}

/** Splits pages into their sections, and says what counts. */
export function describePages(event, sluggerOptions) {
  const { searchResults, searchFields, searchFieldWeights } = event;
  Object.assign(searchFieldWeights, { name: 300, comment: 8, document: 12 });
  const pages = searchResults.filter((reflection) => reflection.isDocument());
  for (const reflection of searchResults) {
    reflection.relevanceBoost = boostOf(reflection);
    const text = summaryOf(reflection);
    if (text !== '') excerpts.set(reflection, text);
  }
  for (const page of pages) {
    const [introduction, ...sections] = sectionsOf(page.content.map(({ text }) => text).join(''));
    const slugger = new Slugger(sluggerOptions);
    if (introduction.name !== '') slugger.slug(introduction.heading);
    searchFields[searchResults.indexOf(page)] = {
      name: `${page.name} ${page.frontmatter['keywords'] ?? ''}`,
      document: searchable(introduction.text),
    };
    excerpts.set(page, plain(introduction.text));
    for (const { name, heading, text } of sections) {
      const section = new DocumentReflection(name, page, [], {});
      section.relevanceBoost = page.relevanceBoost;
      anchors.set(section, slugger.slug(heading));
      excerpts.set(section, plain(text));
      searchFields[searchResults.push(section) - 1] = {
        name: searchable(name),
        document: searchable(text),
      };
    }
  }
}

/** The text before the first heading and with a page's title, then each section. TypeDoc leaves code out of anchors. */
function sectionsOf(markdown) {
  const prose = markdown.replaceAll(/^ *```.*?^ *```$/gms, '');
  const [before, ...rest] = prose.split(/^#+ (?=.)/m);
  const sections = rest.map((part) => {
    const [line, ...lines] = part.split('\n');
    const shown = line.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('*', '');
    return { name: shown.replaceAll('`', ''), heading: shown.replaceAll(/`[^`]*`/g, ''), text: lines.join('\n') };
  });
  const [title = { name: '', heading: '', text: '' }, ...others] = sections;
  return [{ ...title, text: before + title.text }, ...others];
}

/** Markdown as a line of text. */
const plain = (markdown) =>
  markdown
    .replaceAll(/^---$.*?^---$/gms, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\|[ :|-]+$/gm, '')
    .replaceAll(/[`*|]|^[ >-]+ /gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The first sentence of the comment of a declaration. */
function summaryOf({ comment, signatures }) {
  const parts = (comment ?? signatures?.find((signature) => signature.comment)?.comment)?.summary ?? [];
  const text = plain(parts.map((part) => part.text).join(''));
  return text.split(/(?<=\.) /)[0];
}

/** A word with a hyphen is found without it too. */
const searchable = (text) => [text, ...joined(text)].join(' ');
const joined = (text) => [...text.matchAll(/\b[a-z]+(?:-[a-z]+)+\b/gi)].map(([word]) => word.replaceAll('-', ''));

function boostOf(reflection) {
  if (reflection.isDocument() && reflection.frontmatter['group'] === 'Project') return 0.5;
  // its sections are named for errors, and would hide the guides that explain what they are about
  if (reflection.isDocument()) return reflection.name === 'Runbook' ? 10 : 30;
  if (reflection.kindOf(ReflectionKind.Module)) return 2;
  if (!reflection.parent?.kindOf(ReflectionKind.SomeModule)) return 0.03;
  return /^is[A-Z]/.test(reflection.name) ? 0.3 : 1;
}
