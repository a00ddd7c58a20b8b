import js from '@eslint/js';
import markdown from '@eslint/markdown';
import prettier from 'eslint-config-prettier';
import rxjsX from 'eslint-plugin-rxjs-x';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { words } from './eslint.words.js';

/** How packages are imported, everywhere. */
const forms = [
  {
    regex: '^fp-ts/',
    message: "import type { either as E } from 'fp-ts': deep paths break Node's ESM or double the copy",
  },
  {
    regex: '^fp-ts$',
    allowTypeImports: true,
    message: 'its types alone: to load all of it slows the start of every program',
  },
  { regex: '^io-ts/', message: "import * as t from 'io-ts'" },
  { regex: '^rxjs/(operators|internal)', message: "import from 'rxjs'" },
];
const ky = { regex: '^ky$', message: 'only http/ knows ky' };
const vendor = {
  regex: '^@canton-network/',
  message: 'only verify/ and sandbox/ know the optional packages of the vendor',
};
const tanstack = {
  regex: '^@tanstack/',
  message: 'its types are declared where they are used: an application has one of many packages with them',
};
const node = { regex: '^node:', message: 'only sandbox/, cli/, file/ and service/ run in Node alone' };
/** Optional packages, and the folders that know each. */
const optional = {
  '^pg$': ['postgres'],
  '^@nats-io/': ['nats'],
  '^idb$': ['indexeddb'],
  '^@angular/': ['angular'],
  '^react': ['react'],
  '^@opentelemetry/': ['otel'],
  '^ws$': ['ws', 'sandbox'],
  '^undici$': ['undici'],
};
const foreign = (folder) =>
  Object.entries(optional)
    .filter(([, folders]) => !folders.includes(folder))
    .map(([regex, folders]) => ({ regex, message: `only ${folders.join('/ and ')}/ knows it` }));

/** The house: each folder of src and the folders that it may import. */
const house = {
  codecs: [],
  errors: ['codecs'],
  diagnostics: ['codecs', 'errors'],
  http: ['codecs', 'errors', 'diagnostics'],
  client: ['codecs', 'errors', 'diagnostics', 'http', 'operators'],
  history: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'operators'],
  feed: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'history', 'operators'],
  submission: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'history', 'feed'],
  verify: ['codecs', 'errors', 'submission'],
  operators: ['codecs', 'errors'],
  contracts: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'history', 'feed', 'operators', 'ledger'],
  session: ['errors', 'client'],
  devtools: ['diagnostics', 'errors'],
  process: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'history', 'feed', 'operators', 'ledger', 'contracts'],
  dispatch: ['codecs', 'errors', 'diagnostics', 'http', 'submission', 'process'],
  automation: [
    'codecs',
    'errors',
    'diagnostics',
    'http',
    'client',
    'feed',
    'submission',
    'ledger',
    'contracts',
    'process',
    'dispatch',
  ],
  ledger: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'history', 'feed', 'submission'],
  file: ['codecs', 'errors', 'process'],
  indexeddb: ['codecs', 'errors', 'process'],
  postgres: [
    'codecs',
    'errors',
    'diagnostics',
    'http',
    'client',
    'history',
    'feed',
    'submission',
    'ledger',
    'process',
    'dispatch',
    'contracts',
  ],
  nats: ['codecs', 'errors', 'diagnostics', 'http', 'history', 'operators', 'process'],
  service: ['codecs', 'errors', 'diagnostics', 'http', 'ledger', 'process', 'dispatch'],
  angular: ['codecs', 'client', 'contracts', 'errors', 'http', 'ledger', 'session'],
  react: ['codecs', 'contracts', 'ledger', 'session'],
  'tanstack-query': ['contracts'],
  'tanstack-db': ['contracts'],
  otel: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'process'],
  ws: ['codecs', 'errors', 'http', 'client', 'history', 'feed'],
  undici: ['codecs', 'errors', 'http'],
  sse: ['codecs', 'errors', 'diagnostics', 'http', 'client', 'history', 'contracts'],
  tokens: ['codecs', 'contracts'],
  sandbox: ['codecs', 'http', 'tokens', 'ws'],
  cli: [
    'errors',
    'http',
    'client',
    'submission',
    'contracts',
    'process',
    'postgres',
    'file',
    'verify',
    'sandbox',
    'ws',
  ],
};
/**
 * The command line imports what other programs can import, and what has no public name: the tables of failed connections and
 * databases, the SQL of leases, atomic writes of files, the escape of texts, the port of the library, by which `check` sends what the library would
 * send, and the check of a submission, by which a dry run refuses what the library would refuse.
 */
const entriesAlone = (depth) => ({
  regex: `^(\\.\\./){${depth + 1}}[a-z]+/(?!index\\.js$|connectionTrouble\\.js$|databaseErrors\\.js$|leaseSql\\.js$|files\\.js$|escapeText\\.js$|kyPort\\.js$|exchange\\.js$|submitCommands\\.js$)`,
  message: 'cli/ imports public entries alone: ../index.js, ../contracts/index.js and so on',
});
/** The sandbox imports the types of the two ports, by which clients reach it without a server. */
const portsAlone = (depth) => ({
  regex: `^(\\.\\./){${depth + 1}}(http/(?!HttpPort\\.js$)|ws/(?!SocketPort\\.js$))`,
  message: 'sandbox/ imports only the two ports from http/ and ws/',
});
const inNode = ['sandbox', 'cli', 'file', 'service'];
const knowsVendor = ['verify', 'sandbox'];

/** The rules of one folder of the house, `depth` folders below it. */
const direction = (folder, allowed, depth) => {
  const others = Object.keys(house).filter((name) => name !== folder && !allowed.includes(name));
  return {
    files: [`src/${folder}/${'*/'.repeat(depth)}*.ts`],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            ...forms,
            ...(folder === 'http' ? [] : [ky]),
            ...(knowsVendor.includes(folder) ? [] : [vendor]),
            ...(inNode.includes(folder) ? [] : [node]),
            tanstack,
            ...foreign(folder),
            ...(folder === 'cli' ? [entriesAlone(depth)] : []),
            ...(folder === 'sandbox' ? [portsAlone(depth)] : []),
            {
              regex: `^(\\.\\./){${depth + 1}}(${others.join('|')})/`,
              message: `${folder}/ imports only: ${allowed.join(', ') || 'itself'}`,
            },
          ],
        },
      ],
    },
  };
};

/** Angular's builder moves a pattern with a rest out of the parameters: a default after it must not refer to its names. */
const noDefaultFromRest = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const { sourceCode } = context;
    const isWithin = (inner, { range: [start, end] }) => inner.range[0] >= start && inner.range[1] <= end;
    const hasRest = ({ type, left, properties = [] }) =>
      type === 'AssignmentPattern' ? hasRest(left) : properties.some((property) => property.type === 'RestElement');
    const check = (node) => {
      for (const pattern of node.params.filter(hasRest)) {
        const later = node.params.slice(node.params.indexOf(pattern) + 1);
        const variables = sourceCode.getDeclaredVariables(node);
        for (const { defs, references } of variables)
          if (defs.some(({ name }) => isWithin(name, pattern)))
            for (const { identifier } of references)
              if (later.some((param) => isWithin(identifier, param)))
                context.report({
                  node: identifier,
                  message: 'esbuild moves this name out of the parameters: use it in the body',
                });
      }
    };
    return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
  },
};

/** Reports words of the list in the prose of guides, and in the comments and messages of sources. */
const prose = {
  meta: { type: 'suggestion', schema: [] },
  create(context) {
    const { sourceCode } = context;
    const check = (node, raw) => {
      // code keeps its length, so that the column is right
      const text = raw.replaceAll(/`[^`]*`|\{@link [^}]*\}|^ \* ```[^]*?^ \* ```/gm, (code) => '`'.repeat(code.length));
      for (const [pattern, instead] of words) {
        const match = pattern.exec(text);
        if (match) context.report({ node, message: `'${match[0]}': write ${instead}` });
      }
    };
    const isSentence = (text) => /\w \w/.test(text);
    return {
      Program: () => sourceCode.getAllComments().forEach((comment) => check(comment, comment.value)),
      Literal: (node) => typeof node.value === 'string' && isSentence(node.value) && check(node, node.value),
      TemplateElement: (node) => isSentence(node.value.raw) && check(node, node.value.raw),
      text: (node) => check(node, node.value),
    };
  },
};

export default defineConfig(
  globalIgnores([
    'dist',
    'site',
    'coverage',
    'docs/examples/**/*.{ts,js,mjs}',
    'eslint.{config,words}.js',
    'test/*.config.js',
    'test/fixtures/{codegen,tasks}*',
  ]),
  {
    files: ['**/*.{ts,js}'],
    extends: [
      js.configs.recommended,
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked,
      rxjsX.configs.strict,
    ],
    languageOptions: { parserOptions: { project: 'test/tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      // a codec and its type share one name
      '@typescript-eslint/no-redeclare': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      // what an operator catches and passes on may be anything
      'rxjs-x/throw-error': ['error', { allowThrowingAny: false, allowThrowingUnknown: true }],
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-nested-ternary': 'error',
    },
  },
  { files: ['src/**/*.ts'], rules: { 'rxjs-x/no-ignored-subscription': 'error', 'max-lines': ['error', 400] } },
  {
    files: ['**/*.md'],
    plugins: { markdown, words: { rules: { prose } } },
    language: 'markdown/gfm',
    languageOptions: { frontmatter: 'yaml' },
    rules: { 'words/prose': 'error' },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { words: { rules: { prose } } },
    rules: { 'words/prose': 'error' },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { syntax: { rules: { 'no-default-from-rest': noDefaultFromRest } } },
    rules: { 'syntax/no-default-from-rest': 'error' },
  },
  Object.entries(house).flatMap(([folder, allowed]) => [0, 1].map((depth) => direction(folder, allowed, depth))),
  {
    files: ['test/**/*.ts'],
    rules: { 'rxjs-x/no-ignored-default-value': 'off', 'rxjs-x/no-ignored-error': 'off' },
  },
  prettier,
);
