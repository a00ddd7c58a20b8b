// What is on a page: the header, the home page, `main`, and the links to the pages before and after a guide.
import { readFileSync } from 'node:fs';
import { DefaultThemeRenderContext, JSX } from 'typedoc';

const h = JSX.createElement;
const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const manifest = JSON.parse(read('../../package.json'));
const home = read('home.md');

/** Renders TypeDoc's pages with the parts of this site. */
export class SiteContext extends DefaultThemeRenderContext {
  #default = {
    layout: this.defaultLayout,
    header: this.header,
    navigation: this.navigation,
  };

  defaultLayout = (template, page) =>
    this.#default.layout(() => mainOf(this, page, this.#default.header, template), page);
  header = () => undefined; // in `main`
  settings = () => undefined; // the theme is in the toolbar, and there are no filters
  toolbar = (page) => toolbar(this, page, manifest);
  indexTemplate = (page) => homePage(this, page);
  navigation = (page) => {
    const navigation = this.#default.navigation(page);
    return { ...navigation, props: { ...navigation.props, 'aria-label': 'Site' } };
  };
  pageSidebar = (page) =>
    page.url === 'index.html' ? undefined : h('nav', { 'aria-label': 'On this page' }, this.pageNavigation(page));
}

const mainOf = (context, page, header, template) =>
  h(
    'main',
    null,
    header(page),
    template(page),
    page.model.isDocument() && editLink(page, manifest),
    page.model.isDocument() && neighbours(context, page),
  );

/** A link to the source of a guide, if package.json names the repository. */
export function editLink({ model, project }, { repository }) {
  const path = /(?:docs\/.*|[A-Z]+\.md)$/.exec(project.files.getReflectionPath(model) ?? '')?.[0];
  if (repository === undefined || path === undefined) return undefined;
  return h(
    'p',
    { class: 'site-edit' },
    h('a', { href: `${addressOf(repository)}/edit/main/${path}` }, 'Edit this page'),
  );
}

const addressOf = ({ url }) => url.replace(/^git\+/, '').replace(/\.git$/, '');

/** The links below a guide or an example. */
function neighbours(context, { model, project }) {
  const documents = project.documents.filter((document) => document.frontmatter['group'] !== 'Project');
  const place = documents.indexOf(model);
  if (place === -1) return undefined;
  const link = (document, rel, label) =>
    document && h('a', { href: context.urlTo(document), rel }, h('span', null, label), document.name);
  return h(
    'nav',
    { class: 'site-neighbours', 'aria-label': 'Guides before and after' },
    link(documents[place - 1], 'prev', 'Previous'),
    link(documents[place + 1], 'next', 'Next'),
  );
}

/** The header: name, version, search, theme, repository. The ids are those that TypeDoc's script looks for. */
export function toolbar(context, { project }, { version, repository }) {
  const address = repository && addressOf(repository);
  return h(
    'header',
    { class: 'tsd-page-toolbar' },
    h(
      'div',
      { class: 'tsd-toolbar-contents container' },
      h('a', { href: context.relativeURL('index.html'), class: 'title' }, project.name),
      h('span', { class: 'site-version' }, version),
      h(
        'button',
        { id: 'tsd-search-trigger', class: 'tsd-widget', 'aria-label': 'Search' },
        context.icons.search(),
        h('span', null, 'Search'),
      ),
      h(
        'select',
        { id: 'tsd-theme', 'aria-label': 'Theme' },
        h('option', { value: 'os' }, '◐ Auto'),
        h('option', { value: 'light' }, '☀ Light'),
        h('option', { value: 'dark' }, '☾ Dark'),
      ),
      address && h('a', { href: address, class: 'site-repository' }, 'Repository'),
      h(
        'a',
        { href: '#', class: 'tsd-widget', id: 'tsd-toolbar-menu-trigger', 'data-toggle': 'menu', 'aria-label': 'Menu' },
        context.icons.menu(),
      ),
    ),
    h(
      'dialog',
      { id: 'tsd-search', 'aria-label': 'Search' },
      h('input', {
        role: 'combobox',
        id: 'tsd-search-input',
        'aria-label': 'Search',
        'aria-controls': 'tsd-search-results',
        'aria-autocomplete': 'list',
        'aria-expanded': 'true',
        autocapitalize: 'off',
        autocomplete: 'off',
        placeholder: 'Search the docs',
        maxLength: 100,
      }),
      h('ul', { role: 'listbox', id: 'tsd-search-results', 'aria-label': 'Results' }),
      h('div', { id: 'tsd-search-status', 'aria-live': 'polite' }, h('div', null, 'Preparing search index...')),
    ),
  );
}

const ways = [
  { way: 'A page in a browser', text: 'Contracts that change while you look at them.' },
  { way: 'A service', text: 'Each update handled, and resumed when it is killed.' },
  { way: 'A script', text: 'Contracts read and a command submitted, once.' },
];

function homePage(context, { model: project }) {
  const guideOf = (name) => project.documents.find((document) => document.name === name);
  const link = (name) => context.urlTo(guideOf(name));
  const picture = (theme) =>
    h('img', {
      class: `site-${theme}`,
      src: context.relativeURL(`media/explorer-${theme}.png`),
      width: 1360,
      height: 844,
      alt: 'The explorer, an example: a live table of updates, and a submission whose response was lost but which was committed',
    });
  return h(
    'div',
    { class: 'tsd-panel tsd-typography site-home' },
    h(JSX.Raw, { html: context.markdown(home) }),
    h('h2', null, 'Start in five minutes'),
    h(
      'ul',
      { class: 'site-ways' },
      ways
        .filter(({ way }) => guideOf(way) !== undefined)
        .map(({ way, text }) => h('li', null, h('a', { href: link(way) }, way), h('p', null, text))),
    ),
    picture('light'),
    picture('dark'),
    h(JSX.Raw, { html: context.markdown(partsOf(project.readme, ['Guides', 'Entry points', 'Compatibility'])) }),
  );
}

/** Sections of the README, its links included. */
function partsOf(readme, headings) {
  let isShown = false;
  return readme.flatMap((part) => {
    if (part.kind !== 'text') return isShown ? [part] : [];
    const sections = part.text.split(/^(?=## )/m).filter((section) => {
      const heading = /^## (.*)/.exec(section)?.[1];
      if (heading !== undefined) isShown = headings.includes(heading);
      return isShown;
    });
    return [{ kind: 'text', text: sections.join('') }];
  });
}

/** Makes a rendered page accessible: TypeDoc's headings skip levels, and it puts links into what opens at a click. */
export function accessible(html) {
  let level = 0;
  return html
    .replaceAll(/<h([1-6])(?=[ >])/g, (heading, shown) => {
      level = Math.min(Number(shown), level + 1);
      return level === Number(shown) ? heading : `${heading} aria-level="${level}"`;
    })
    .replaceAll(/<summary.*?<\/summary>/gs, (summary) => summary.replaceAll(/<a [^>]*tsd-anchor-icon.*?<\/a>/gs, ''))
    .replaceAll('<pre><code', '<pre><code tabindex="0"') // what is too wide scrolls with the keyboard too
    .replaceAll('<table>', '<div class="site-table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
}

/** Gives each row of a table an anchor of the words in its first cell, so that a person can send a link to it. */
export function withRowAnchors(html) {
  const used = new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id));
  return html.replaceAll(/<tr>\s*<td>(.*?)<\/td>/gs, (row, cell) => {
    const words =
      cell
        .replaceAll(/<[^>]*>|&[^;]+;/g, ' ')
        .toLowerCase()
        .match(/[a-z0-9$.]+/g) ?? [];
    const id = ['row', ...words.slice(0, 6)].join('-');
    if (used.has(id)) return row;
    used.add(id);
    return `<tr id="${id}"><td><a class="site-row" href="#${id}" aria-label="Link to this row">#</a> ${cell}</td>`;
  });
}
