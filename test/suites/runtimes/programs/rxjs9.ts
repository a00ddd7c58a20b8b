import process from 'node:process';
// @ts-expect-error: a version of its own, under another name
import { ColdObservable } from 'rxjs9';
import { type PlatformConstructor, readOnPlatform } from './platform.js';

/** Prints what a program that uses RxJS 9 sees of a feed. */
const [, , url = ''] = process.argv;
console.log(JSON.stringify(await readOnPlatform(ColdObservable as PlatformConstructor, url)));
