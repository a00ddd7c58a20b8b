import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..', '..');
const site = join(root, 'site');
if (!existsSync(join(site, 'index.html'))) throw new Error('there is no site: npm run docs first');

const read = (path: string): string => readFileSync(join(site, path), 'utf8');
const files = readdirSync(site, { recursive: true, encoding: 'utf8' });
const pages = new Map(files.filter((path) => path.endsWith('.html')).map((path) => [path, read(path)]));

const valuesOf = (html: string, pattern: RegExp): readonly string[] =>
  [...html.matchAll(pattern)].map(([, value = '']) => value.replaceAll('&amp;', '&'));
const anchors = new Map([...pages].map(([path, html]) => [path, new Set(valuesOf(html, / id="([^"]+)"/g))]));

/** What is wrong with a link from a page, if anything. */
function complaintOf(page: string, link: string): string | undefined {
  if (/^(https?:|mailto:|data:)/.test(link)) return undefined;
  const [path = '', anchor = ''] = link.split('#');
  const target = path === '' ? page : relative(site, resolve(site, dirname(page), decodeURIComponent(path)));
  if (target.startsWith('..')) return `${page}: ${link} leads out of the site`;
  const file = join(site, target);
  if (!existsSync(file) || !statSync(file).isFile()) return `${page}: ${link} is not there`;
  if (anchor === '' || !target.endsWith('.html')) return undefined;
  return anchors.get(target)?.has(decodeURIComponent(anchor)) === true
    ? undefined
    : `${page}: ${link} has no such anchor`;
}

const isComplaint = (complaint: string | undefined): complaint is string => complaint !== undefined;

describe('the built site', () => {
  it('has no broken link, image or anchor', () => {
    expect(pages.size).toBeGreaterThan(300);
    const links = [...pages].flatMap(([page, html]) =>
      [...new Set(valuesOf(html, / (?:href|src)="([^"]*)"/g))].map((link) => ({ page, link })),
    );
    expect(links.length).toBeGreaterThan(10_000);
    expect(links.map(({ page, link }) => complaintOf(page, link)).filter(isComplaint)).toEqual([]);
  });

  it('leads to pages, not to Markdown or sources', () => {
    const raw = [...pages].flatMap(([page, html]) =>
      valuesOf(html, / href="([^"]*)"/g)
        .filter((link) => !/^https?:/.test(link) && /\.(md|ts|json)(#|$)/.test(link))
        .map((link) => `${page}: ${link}`),
    );
    expect(raw).toEqual([]);
  });

  it('is navigated from start over the guides to the reference, in the order of the README', () => {
    const navigation = readNavigation();
    expect(navigation.map(({ text }) => text)).toEqual([
      'Start',
      'Guides',
      'Concepts',
      'Reference',
      'Operate',
      'Examples',
      'Project',
    ]);
    const [start, guides, concepts, reference, , examples] = navigation.map(({ children = [] }) =>
      children.map(({ text }) => text),
    );
    expect(start?.slice(0, 4)).toEqual(['Overview', 'A page in a browser', 'A service', 'A script']);
    expect(guides?.slice(0, 3)).toEqual(['Contracts', 'Pages', 'Updates']);
    expect(navigation[1]?.children?.[0]?.children?.map(({ text }) => text).slice(0, 2)).toEqual([
      'Contracts',
      'Changes of contracts',
    ]);
    expect(concepts?.[0]).toBe('Concepts');
    expect(examples).toHaveLength(4);
    expect(reference).toEqual(
      expect.arrayContaining(['Command line', 'canton-rx', 'canton-rx/contracts', 'canton-rx/session']),
    );
  });

  it('leads from each guide to the one before and the one after, in the order of the navigation', () => {
    const order = leavesOf(readNavigation().filter(({ text }) => text !== 'Project')).filter((path) =>
      path.startsWith('documents/'),
    );
    expect(order.length).toBeGreaterThan(60);
    const linkTo = (path: string, rel: string) =>
      valuesOf(read(path), new RegExp(`<a href="([^"]*)" rel="${rel}"`, 'g')).map((link) => `documents/${link}`);
    expect(order.map((path) => linkTo(path, 'prev'))).toEqual(order.map((_, place) => order.slice(0, place).slice(-1)));
    expect(order.map((path) => linkTo(path, 'next'))).toEqual(
      order.map((_, place) => order.slice(place + 1, place + 2)),
    );
    expect(read('documents/CHANGELOG.html')).not.toContain('site-neighbours');
  });

  it('has on its home page a program of six lines, a picture, ways in, and each guide', () => {
    const home = read('index.html');
    const [, code = ''] = /<pre>(.*?)<\/pre>/s.exec(home) ?? [];
    expect(code.match(/<br\/>/g)).toHaveLength(5);
    expect(valuesOf(home, /<img [^>]*alt="([^"]+)"/g)).toHaveLength(2);
    const [, ways = ''] = /<ul class="site-ways">(.*?)<\/ul>/s.exec(home) ?? [];
    const wanted = ['documents/A_page_in_a_browser.html', 'documents/A_service.html', 'documents/A_script.html'];
    expect(valuesOf(ways, /href="([^"]*)"/g)).toEqual(wanted);
    const guides = leavesOf(readNavigation().filter(({ text }) => text === 'Guides'));
    expect(guides.length).toBeGreaterThan(40);
    expect(valuesOf(home.split('id="guides"')[1] ?? '', /href="([^"]*)"/g)).toEqual(
      expect.arrayContaining([...guides]),
    );
  });

  it('names its version in the header, and links to the repository if package.json has it', async () => {
    const plugin = join(root, 'docs', 'site', 'pages.mjs');
    const { JSX } = await import('typedoc');
    const { toolbar } = (await import(plugin)) as { readonly toolbar: (...parameters: readonly unknown[]) => object };
    const context = { relativeURL: String, icons: { search: () => null, menu: () => null } };
    const header = (manifest: object) =>
      JSX.renderElement(
        toolbar(context, { project: { name: 'canton-rx' } }, manifest) as Parameters<typeof JSX.renderElement>[0],
      );
    const url = 'git+https://example.org/canton-rx.git';
    expect(header({ version: '9.8.7', repository: { type: 'git', url } })).toMatch(
      /9\.8\.7.*<a href="https:\/\/example\.org\/canton-rx" [^>]*>Repository</s,
    );
    expect(header({ version: '9.8.7' })).not.toContain('Repository');
    const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly version: string;
      readonly repository?: object;
    };
    for (const path of ['index.html', 'documents/Angular.html', 'functions/canton-rx.createLedger.html']) {
      expect(read(path)).toContain(`<span class="site-version">${version}</span>`);
      expect(read(path).includes('class="site-repository"')).toBe(repository !== undefined);
    }
  });

  it('links each guide to its source, if package.json has the repository', async () => {
    const { JSX } = await import('typedoc');
    const plugin = (await import(join(root, 'docs', 'site', 'pages.mjs'))) as {
      readonly editLink: (...parameters: readonly unknown[]) => object | undefined;
    };
    const page = { model: {}, project: { files: { getReflectionPath: () => '/somewhere/docs/feed.md' } } };
    const link = plugin.editLink(page, { repository: { url: 'git+https://example.org/canton-rx.git' } });
    expect(JSX.renderElement(link as Parameters<typeof JSX.renderElement>[0])).toContain(
      'href="https://example.org/canton-rx/edit/main/docs/feed.md"',
    );
    expect(plugin.editLink(page, {})).toBeUndefined();
  });

  it('begins the reference with what a program calls first, and ends it with errors', () => {
    const core = readNavigation()
      .find(({ text }) => text === 'Reference')
      ?.children?.find(({ text }) => text === 'canton-rx');
    const categories = core?.children?.map(({ text }) => text) ?? [];
    expect(categories.slice(0, 3)).toEqual(['Contents', 'Ledger', 'Operators']);
    expect(categories.at(-1)).toBe('Errors');
    expect(categories).not.toContain('Other');
    expect(core?.children?.[1]?.children?.[0]?.text).toBe('createLedger');
  });

  it('is searched with results that are there', () => {
    const { rows } = unpack('assets/search.js') as { readonly rows: readonly { readonly url: string }[] };
    expect(rows.filter(({ url }) => url.startsWith('documents/') && url.includes('#')).length).toBeGreaterThan(150);
    expect(rows.map(({ url }) => complaintOf('index.html', url)).filter(isComplaint)).toEqual([]);
  });

  it('highlights all code', () => {
    const plain = [...pages].flatMap(([page, html]) =>
      [...html.matchAll(/<pre><code class="(\w+)">([^]*?)<\/code>/g)]
        .filter(([, language, code = '']) => language !== 'text' && !code.includes('class="hl-'))
        .map(([, language]) => `${page}: ${language}`),
    );
    expect(plain).toEqual([]);
  });
});

interface NavigationElement {
  readonly text: string;
  readonly path?: string;
  readonly children?: readonly NavigationElement[];
}

const leavesOf = (elements: readonly NavigationElement[]): readonly string[] =>
  elements
    .flatMap(({ path = '', children }) => (children === undefined ? [path] : leavesOf(children)))
    .filter((path) => path !== 'index.html');

const readNavigation = () => unpack('assets/navigation.js') as readonly NavigationElement[];

/** What TypeDoc has compressed into a script. */
function unpack(path: string): unknown {
  const [, packed = ''] = /"(.*)"/.exec(read(path)) ?? [];
  return JSON.parse(inflateSync(Buffer.from(packed, 'base64')).toString());
}
