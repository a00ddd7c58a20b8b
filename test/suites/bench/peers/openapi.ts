import { imported } from './install.js';
import type { Peer, ReadPage } from './Peer.js';
import { zodPage, type Zod } from './zodPage.js';

export const openapi: Peer = { id: 'openapi', packages: ['openapi-fetch@0.17.0', 'zod@4'] };

type Post = (path: string, options: object) => Promise<{ readonly data: unknown }>;
type CreateClient = (options: object) => { readonly POST: Post };

/** openapi-fetch; what is done with an answer is the caller's. */
async function openapiReader(url: string, read: (data: unknown) => unknown): Promise<ReadPage> {
  const module = await imported('openapi', 'openapi-fetch');
  const { POST } = (module['default'] as CreateClient)({ baseUrl: url });
  return async (body) => read((await POST('/v2/updates/flats', { body, params: { query: { limit: 200 } } })).data);
}

/** By itself it looks at nothing. */
export const openapiFetchReader = (url: string): Promise<ReadPage> => openapiReader(url, (data) => data);

/** With zod behind it, it does. */
export async function openapiZodReader(url: string): Promise<ReadPage> {
  const { z } = (await imported('openapi', 'zod')) as unknown as { readonly z: Zod };
  const page = zodPage(z);
  return openapiReader(url, (data) => page.parse(data));
}
