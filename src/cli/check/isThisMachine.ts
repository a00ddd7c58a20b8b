/** Whether a URL's host is this machine itself, so that nothing leaves it. */
export const isThisMachine = (hostname: string): boolean =>
  /^(?:(?:[^.]+\.)*localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
