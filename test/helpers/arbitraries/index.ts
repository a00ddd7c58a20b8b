export * from './events.js';
export * from './formats.js';
export * from './messages.js';
export * from './responses.js';
export * from './scalars.js';
export * from './submissions.js';
