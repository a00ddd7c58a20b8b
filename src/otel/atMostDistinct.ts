/** Lets so many different texts through, and calls all others `_OTHER`: a service that runs wild must not fill a meter. */
export function atMostDistinct(most: number): (text: string) => string {
  const known = new Set<string>();
  return (text) => {
    if (known.size < most) known.add(text);
    return known.has(text) ? text : '_OTHER';
  };
}
