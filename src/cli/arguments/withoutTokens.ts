/** Tokens of the usual form: JSON Web Tokens begin so, and hardly anything else does. */
const tokens = /\beyJ[\w-]{8,}(?:\.[\w-]*)*/g;

/** A message that quotes arguments, without the tokens that somebody has put in the wrong place. */
export const withoutTokens = (message: string): string => message.replaceAll(tokens, '(a token)');
