/**
 * Keeps the places of processors in files. In Node.js.
 *
 * @module canton-rx/file
 */

export { fileStore } from './fileStore.js';
