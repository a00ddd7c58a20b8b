// The site's parts in their order, with the guides under the headings of the README.
import { readFileSync } from 'node:fs';
import {
  Comment,
  CommentTag,
  Converter,
  DefaultTheme,
  IndexEvent,
  JSX,
  PageEvent,
  ReflectionFlag,
  ReflectionKind,
} from 'typedoc';
import { accessible, SiteContext, withRowAnchors } from './pages.mjs';
import { writeForMachines, writeNotFound } from './files.mjs';
import { describePages, SectionRouter, writeExcerpts } from './sections.mjs';

/** Loaded by TypeDoc. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => putInOrder(project), 100);
  app.renderer.defineTheme('site', SiteTheme);
  app.renderer.defineRouter('sections', SectionRouter);
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) =>
    describePages(event, app.options.getValue('sluggerConfiguration')),
  );
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = accessible(page.contents);
    if (page.url === 'documents/Runbook.html') page.contents = withRowAnchors(page.contents);
  });
  app.renderer.postRenderAsyncJobs.push(async ({ outputDirectory, project }) => {
    await writeForMachines(outputDirectory, project, app.renderer.router);
    await writeNotFound(outputDirectory);
    await writeExcerpts(outputDirectory, app.renderer.router);
  });
  app.renderer.hooks.on('head.end', () =>
    JSX.createElement('script', null, JSX.createElement(JSX.Raw, { html: unfold })),
  );
}

const parts = ['Start', 'Guides', 'Concepts', 'Reference', 'Operate', 'Examples', 'Project'];

/** Unfolds all parts, until the reader folds one. */
const unfold = `for (const part of ${JSON.stringify(parts)}) try { localStorage['tsd-accordion-' + part] ??= 'true' } catch {}`;

/** Puts each page into its part, which TypeDoc calls a group. */
function putInOrder(project) {
  for (const document of project.documents ?? []) {
    document.frontmatter['group'] = partOf(project.files.getReflectionPath(document) ?? '');
    // a README has a heading and no title
    if (document.name.endsWith('README')) document.name = /^# ([^:\n]*)/m.exec(textOf(document))?.[1] ?? document.name;
  }
  for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
    tag(module, '@group', 'Reference');
    module.childrenIncludingDocuments?.sort((a, b) => rankOf(a) - rankOf(b));
    module.children?.forEach(summarize);
  }
  for (const reference of project.getReflectionsByKind(ReflectionKind.Reference)) {
    const category = categoryOf(reference.getTargetReflectionDeep());
    if (category !== undefined) tag(reference, '@category', category);
  }
  // all are, which says nothing
  for (const property of project.getReflectionsByKind(ReflectionKind.Property))
    property.flags.setFlag(ReflectionFlag.Readonly, false);
}

/** What is called comes first. Within a rank, the order is that of the entry's exports. */
function rankOf(declaration) {
  const target = declaration.isReference() ? declaration.getTargetReflectionDeep() : declaration;
  if (target.kindOf(ReflectionKind.Function)) return /^is[A-Z]/.test(target.name) ? 1 : 0;
  return target.kindOf(ReflectionKind.Variable | ReflectionKind.Class) ? 1 : 2;
}

/** Gives a declaration the first sentence of its comment as its line in the list of its module. */
function summarize(declaration) {
  for (const { comment } of [declaration, ...(declaration.signatures ?? [])]) {
    if (comment === undefined || comment.getTag('@summary') !== undefined) continue;
    const end = comment.summary.findIndex(({ kind, text }) => kind === 'text' && /\.\s/.test(text));
    if (end === -1) continue;
    const { kind, text } = comment.summary[end];
    const sentence = [...comment.summary.slice(0, end), { kind, text: text.slice(0, text.search(/\.\s/) + 1) }];
    comment.blockTags.push(new CommentTag('@summary', sentence));
  }
}

const textOf = (document) => document.content.map(({ text }) => text).join('');

function partOf(path) {
  if (path.includes('docs/examples/')) return 'Examples';
  const heading = headings.get(/docs\/[\w-]+\.md$/.exec(path)?.[0]);
  if (heading === undefined) return 'Project';
  return parts.includes(heading) ? heading : 'Guides';
}

/** The heading of the README under which a guide is listed, by the file of the guide. */
const headings = new Map(
  readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    .split(/^### /m)
    .slice(1)
    .flatMap((section) =>
      Array.from(section.split(/^## /m)[0].matchAll(/^\| \[[^\]]*\]\((docs\/[\w-]+\.md)\)/gm), ([, path]) => [
        path,
        section.slice(0, section.indexOf('\n')),
      ]),
    ),
);

function tag(reflection, name, text) {
  reflection.comment ??= new Comment();
  reflection.comment.blockTags.push(new CommentTag(name, [{ kind: 'text', text }]));
}

const categoryOf = (reflection) =>
  [reflection, ...(reflection.signatures ?? [])]
    .map(({ comment }) => comment?.getTag('@category')?.content[0]?.text.trim())
    .find((category) => category !== undefined);

class SiteTheme extends DefaultTheme {
  ContextClass = SiteContext;

  /** The first line of a language compiles its grammar. On a busy machine this exceeds the time limit for its colours. */
  async preRender(event) {
    await super.preRender(event);
    for (const language of this.application.options.getValue('highlightLanguages'))
      this.markedPlugin.getHighlighted('const warm = 1;', language);
  }

  buildNavigation(project) {
    const navigation = super.buildNavigation(project);
    navigation.find(({ text }) => text === 'Start')?.children.unshift({ text: 'Overview', path: 'index.html' });
    const guides = navigation.find(({ text }) => text === 'Guides');
    if (guides !== undefined) guides.children = this.#underHeadings(project, guides.children);
    return navigation.map(withoutNestedLinks);
  }

  /** The guides under the headings of the README: too many for one list. */
  #underHeadings(project, guides) {
    const headingOf = ({ text }) =>
      headings.get(
        /docs\/[\w-]+\.md$/.exec(
          project.files.getReflectionPath(project.documents.find(({ name }) => name === text)),
        )?.[0],
      );
    return [...new Set(guides.map(headingOf))].map((heading) => ({
      text: heading,
      children: guides.filter((guide) => headingOf(guide) === heading),
    }));
  }
}

/** An entry of the navigation either opens or leads to a page: a link inside of what opens is hard to reach. */
function withoutNestedLinks({ path, ...element }) {
  const children = element.children?.map(withoutNestedLinks);
  if (children === undefined) return { ...element, path };
  return { ...element, children: path === undefined ? children : [{ text: 'Contents', path }, ...children] };
}
