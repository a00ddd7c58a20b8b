export * from './answers.js';
export * from './contracts.js';
export * from './messages.js';
export * from './requests.js';
export * from './scalars.js';
