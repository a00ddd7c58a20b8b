// What the search knows, in this order: sections of pages, declarations, guards, members.
import { DocumentReflection, KindRouter, ReflectionKind, Slugger } from 'typedoc';

/** Sections that the search offers, by their anchors. */
const anchors = new WeakMap();

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
  for (const reflection of searchResults) reflection.relevanceBoost = boostOf(reflection);
  for (const page of pages) {
    const [introduction, ...sections] = sectionsOf(page.content.map(({ text }) => text).join(''));
    const slugger = new Slugger(sluggerOptions);
    if (introduction.name !== '') slugger.slug(introduction.name);
    searchFields[searchResults.indexOf(page)] = {
      name: `${page.name} ${page.frontmatter['keywords'] ?? ''}`,
      document: searchable(introduction.text),
    };
    for (const { name, text } of sections) {
      const section = new DocumentReflection(name, page, [], {});
      section.relevanceBoost = page.relevanceBoost;
      anchors.set(section, slugger.slug(name));
      searchFields[searchResults.push(section) - 1] = {
        name: searchable(name),
        document: searchable(text),
      };
    }
  }
}

/** The text before the first heading and with a page's title, then each section. */
function sectionsOf(markdown) {
  const prose = markdown.replaceAll(/^ *```.*?^ *```$/gms, '');
  const [before, ...rest] = prose.split(/^#+ (?=.)/m);
  const sections = rest.map((part) => {
    const [heading, ...lines] = part.split('\n');
    return { name: heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, ''), text: lines.join('\n') };
  });
  const [title = { name: '', text: '' }, ...others] = sections;
  return [{ name: title.name, text: before + title.text }, ...others];
}

/** A word with a hyphen is found without it too. */
const searchable = (text) => [text, ...joined(text)].join(' ');
const joined = (text) => [...text.matchAll(/\b[a-z]+(?:-[a-z]+)+\b/gi)].map(([word]) => word.replaceAll('-', ''));

function boostOf(reflection) {
  if (reflection.isDocument()) return reflection.frontmatter['group'] === 'Project' ? 0.5 : 30;
  if (reflection.kindOf(ReflectionKind.Module)) return 2;
  if (!reflection.parent?.kindOf(ReflectionKind.SomeModule)) return 0.03;
  return /^is[A-Z]/.test(reflection.name) ? 0.3 : 1;
}
