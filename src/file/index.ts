/**
 * Saves the cursors of processors in files. For Node.js.
 *
 * @module canton-rx/file
 */

export { fileStore } from './fileStore.js';
