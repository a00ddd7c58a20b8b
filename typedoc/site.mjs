// The site's parts in their order: Start, Guides, Examples, Reference, Project.
import { Comment, CommentTag, Converter, DefaultTheme, IndexEvent, JSX, ReflectionKind } from 'typedoc';
import { describePages, SectionRouter } from './sections.mjs';

/** Loaded by TypeDoc. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => putInOrder(project), 100);
  app.renderer.defineTheme('site', SiteTheme);
  app.renderer.defineRouter('sections', SectionRouter);
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) =>
    describePages(event, app.options.getValue('sluggerConfiguration')),
  );
  app.renderer.hooks.on('head.end', () =>
    JSX.createElement('script', null, JSX.createElement(JSX.Raw, { html: unfold })),
  );
}

const parts = ['Start', 'Guides', 'Examples', 'Reference', 'Project'];

/** Shows the pages of all parts to a reader who has not folded them. */
const unfold = `for (const part of ${JSON.stringify(parts)}) try { localStorage['tsd-accordion-' + part] ??= 'true' } catch {}`;

/** Puts each page into its part, which TypeDoc calls a group. */
function putInOrder(project) {
  for (const document of project.documents ?? []) {
    document.frontmatter['group'] = partOf(project.files.getReflectionPath(document) ?? '');
    // a README has a heading and no title
    if (document.name.endsWith('README')) document.name = /^# ([^:\n]*)/m.exec(textOf(document))?.[1] ?? document.name;
  }
  for (const module of project.getReflectionsByKind(ReflectionKind.Module)) tag(module, '@group', 'Reference');
  for (const reference of project.getReflectionsByKind(ReflectionKind.Reference)) {
    const category = categoryOf(reference.getTargetReflectionDeep());
    if (category !== undefined) tag(reference, '@category', category);
  }
}

const textOf = (document) => document.content.map(({ text }) => text).join('');

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
    const navigation = super.buildNavigation(project);
    navigation.find(({ text }) => text === 'Start')?.children.unshift({ text: 'Overview', path: 'index.html' });
    return navigation;
  }
}
