// The files of the site that are no pages: llms.txt and llms-full.txt for programs, and 404.html for addresses without a page.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Writes the list of all guides, and all of them as one text, as https://llmstxt.org describes. */
export async function writeForMachines(folder, project, router) {
  const guides = project.documents.filter(({ frontmatter }) =>
    ['Start', 'Guides', 'Concepts', 'Reference', 'Operate'].includes(frontmatter['group']),
  );
  const readme = textOf(project.readme);
  const [title, , summary] = readme.split('\n');
  const lines = guides.map((guide) => {
    const file = basename(project.files.getReflectionPath(guide) ?? '');
    return `- [${guide.name}](${router.getFullUrl(guide)}): ${answersOf(file)}`;
  });
  const list = [title, '', `> ${summary}`, '', '## Guides', '', ...lines, '', '## Optional', '', optional, ''];
  await writeFile(join(folder, 'llms.txt'), list.join('\n'));
  await writeFile(
    join(folder, 'llms-full.txt'),
    [readme, ...guides.map(({ content }) => textOf(content))].join('\n\n'),
  );
}

/** The questions that a guide answers, as the README says. */
function answersOf(file) {
  const row = rows.find((line) => line.includes(`(docs/${file})`));
  if (row === undefined) throw new Error(`the README has no row for docs/${file}`);
  return row.split('|')[2].trim();
}

// TypeDoc has resolved the links of the README that it shows
const rows = (await readFile(new URL('../../README.md', import.meta.url), 'utf8'))
  .split('\n')
  .filter((line) => line.startsWith('| ['));

const optional = '- [All guides as one text](llms-full.txt)';

const textOf = (parts) =>
  parts
    .map(({ text }) => text)
    .join('')
    .trim();

/** Writes the page for an address without one: the home page, with a sentence in place of its contents. */
export async function writeNotFound(folder) {
  const home = await readFile(join(folder, 'index.html'), 'utf8');
  const contents = /<div class="tsd-panel tsd-typography site-home">[^]*?(?=<\/main>)/;
  if (!contents.test(home)) throw new Error('the home page has no contents to replace');
  await writeFile(join(folder, '404.html'), home.replace(contents, notFound).replace('<head>', `<head>${base}`));
}

/** A server shows the page at any address, and the addresses in it are relative to the root of the site. */
const base = `<script>{
  const base = document.createElement('base');
  base.href = location.pathname.replace(/(?:(?:documents|modules|functions|classes|interfaces|types|variables|media)\\/.*|[^/]*)$/, '');
  document.head.append(base);
}</script>`;

const notFound = `
<div class="tsd-panel tsd-typography site-home">
  <h1>There is no such page</h1>
  <p>Search above, or begin at the <a href="index.html">overview</a>.</p>
</div>`;
