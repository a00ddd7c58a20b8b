/** The Canton release line that the sandbox behaves as. */
export type SandboxProfile = '3.4' | '3.5' | '3.6';
