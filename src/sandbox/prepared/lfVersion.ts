/** The version of Daml-LF that Canton 3 runs. */
export const lfVersion = '2.1';
