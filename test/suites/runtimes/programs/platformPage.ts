import { type PlatformConstructor, readOnPlatform } from './platform.js';

/** Shows what a page sees of a feed by the Observable of the browser. */
const { Observable: Platform } = globalThis as unknown as { readonly Observable: PlatformConstructor };
const url = decodeURIComponent(location.hash.slice(1));
Object.assign(globalThis, { seen: await readOnPlatform(Platform, url) });
