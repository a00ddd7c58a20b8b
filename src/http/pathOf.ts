/** The path of a URL, for errors: neither host, nor query, nor credentials. */
export const pathOf = (url: string): string => new URL(url).pathname;
