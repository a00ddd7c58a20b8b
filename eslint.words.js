/**
 * Words that the documentation does not use, and what it says instead. Applies to guides, and to comments and messages of src.
 * Code in backticks is not checked.
 */
export const words = [
  [/\bask(s|ed|ing)?\b/i, 'request, call or query'],
  [/\b(tell|tells|told|telling)\b/i, 'report, say or show'],
  [
    /(?<!\b(fall|falls|fallen|fell|falling|left) )\bbehind\b(?! (a|an|the) (proxy|reverse|gateway|load))/i,
    'after, or lags',
  ],
  [/\banew\b/i, 'again'],
  [/\b(the whole|all) of it\b/i, 'all, or the complete …'],
  [/\b(go|goes|going|gone|went) on\b/i, 'continue or resume'],
  [/\bwhat was tried\b/i, 'tested versions'],
  [/\b(has|have|had) not the\b/i, 'lacks'],
  [/\bWho (is|was|has|wants|needs|comes|reads)\b/, 'a subscriber, service or user that …'],
  [/\bbeside\b/i, 'next to, or in addition to'],
  [/\b(somebody|nobody)\b/i, 'name who: a proxy, a service, a user'],
  [/\bof (its|their|your|his|one's|our|an) own\b/i, 'its own …'],
  [/\b(is|are|was|were) to be\b/i, 'must be, or is'],
  [/\bhardly any(thing)?\b/i, 'almost no'],
  [/\b(seldom|whence|hence|thereof|till|unto|thrice)\b/i, 'rarely, so, until'],
  [/(?<!\bthere )\b(is|are) no (?!longer|more|later|less|earlier|fewer)/i, 'is not a …'],
  [/\bunder way\b/i, 'in progress'],
  [/\b(find|finds|found|finding) out\b/i, 'detect or determine'],
  [/\b(never|nothing|is|are) half\b(?!-)/i, 'partial, incomplete'],
  [/\bwhat becomes? of\b|\bwhat became of\b/i, 'the outcome of'],
  [/\b(to be|is|are) had\b/i, 'available'],
  [/\bin one go\b/i, 'at once'],
  [/\bever more\b/i, 'more and more'],
];
