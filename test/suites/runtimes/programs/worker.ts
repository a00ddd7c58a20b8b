import { ofEveryRuntime, tryAll, type World } from './capabilities.js';

/** What workerd passes to a test: the bindings of its configuration. */
interface Bindings {
  readonly WORLD: string;
}

/** Prints what works in workerd, which runs a worker's `test` once. */
export default {
  test: async (_: unknown, { WORLD }: Bindings): Promise<void> => {
    console.log(JSON.stringify(await tryAll(ofEveryRuntime(JSON.parse(WORLD) as World))));
  },
};
