// The site's order: Start, Guides, Examples, Reference; and what its search knows of a page.
import { Comment, CommentTag, Converter, DefaultTheme, IndexEvent, JSX, ReflectionKind } from 'typedoc';

/** Loaded by TypeDoc. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => putInOrder(project), 100);
  app.renderer.defineTheme('site', SiteTheme);
  app.renderer.on(IndexEvent.PREPARE_INDEX, describePages);
  app.renderer.hooks.on('head.end', () =>
    JSX.createElement('script', null, JSX.createElement(JSX.Raw, { html: unfold })),
  );
}

const parts = ['Start', 'Guides', 'Examples', 'Reference', 'Project'];

/** Shows the pages of all parts to a reader who has not folded them. */
const unfold = `for (const part of ${JSON.stringify(parts)}) try { localStorage['tsd-accordion-' + part] ??= 'true' } catch {}`;

/** The parts of the site, which TypeDoc calls groups. */
function putInOrder(project) {
  for (const document of project.documents ?? []) {
    document.frontmatter['group'] = partOf(project.files.getReflectionPath(document) ?? '');
    // a README has a heading and no title
    if (document.name.endsWith('README')) document.name = headingsOf(document)[0]?.split(':')[0] ?? document.name;
  }
  for (const module of project.getReflectionsByKind(ReflectionKind.Module)) tag(module, '@group', 'Reference');
  for (const reference of project.getReflectionsByKind(ReflectionKind.Reference)) {
    const category = categoryOf(reference.getTargetReflectionDeep());
    if (category !== undefined) tag(reference, '@category', category);
  }
}

const textOf = (document) => document.content.map(({ text }) => text).join('');
const headingsOf = (document) =>
  [
    ...textOf(document)
      .replaceAll(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading]) => heading);

function partOf(path) {
  if (path.endsWith('docs/getting-started.md')) return 'Start';
  if (path.includes('docs/examples/')) return 'Examples';
  return path.includes('docs/') ? 'Guides' : 'Project';
}

function tag(reflection, name, text) {
  reflection.comment ??= new Comment();
  reflection.comment.blockTags.push(new CommentTag(name, [{ kind: 'text', text }]));
}

const categoryOf = (reflection) =>
  [reflection, ...(reflection.signatures ?? [])]
    .map(({ comment }) => comment?.getTag('@category')?.content[0]?.text.trim())
    .find((category) => category !== undefined);

class SiteTheme extends DefaultTheme {
  buildNavigation(project) {
    const parts = super.buildNavigation(project);
    parts.find(({ text }) => text === 'Start')?.children.unshift({ text: 'Overview', path: 'index.html' });
    return parts;
  }
}

/** A page is found by its headings first, and by a word with a hyphen however it is written. */
function describePages(event) {
  Object.assign(event.searchFieldWeights, { headings: 4, compounds: 1 });
  event.searchResults.forEach((reflection, index) => {
    if (!reflection.isDocument()) return;
    event.searchFields[index] = {
      headings: headingsOf(reflection).join('\n'),
      compounds: [...textOf(reflection).matchAll(/\b[a-z]+(?:-[a-z]+)+\b/gi)]
        .map(([word]) => word.replaceAll('-', ''))
        .join(' '),
    };
  });
}
