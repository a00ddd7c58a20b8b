import { jest } from '@jest/globals';
import { Window } from 'happy-dom';
import type * as React from 'react';
import type * as ReactDomClient from 'react-dom/client';
import type * as ReactDomServer from 'react-dom/server';
import { until } from '../helpers/time.js';
import type * as Hooks from '../../src/react/index.js';
import type * as Testing from '../../src/react/testing/index.js';

/** A version of React, the library on it, and a page. */
export interface Loaded {
  readonly react: typeof React;
  readonly server: typeof ReactDomServer;
  readonly hooks: typeof Hooks;
  readonly testing: typeof Testing;
  /** Runs a change, and what it renders. */
  readonly act: (change: () => unknown) => Promise<void>;
  /** Waits for what is rendered without the test, as in a browser. */
  readonly until: (condition: () => boolean) => Promise<void>;
  /** Renders an element, by default in StrictMode, which renders twice. */
  readonly show: (element: React.ReactNode, isStrict?: boolean) => Promise<Shown>;
}

/** An element on the page. */
export interface Shown {
  readonly text: () => string;
  readonly render: (element: React.ReactNode) => Promise<void>;
  readonly unmount: () => Promise<void>;
}

/** Loads the library with a version of React. Both versions are installed, under different names. */
export async function loadReact(name: 'react' | 'react18', domName: 'react-dom' | 'react-dom18'): Promise<Loaded> {
  const page = new Window({ url: 'http://page.test' });
  const globals = { window: page, document: page.document, navigator: page.navigator, IS_REACT_ACT_ENVIRONMENT: true };
  for (const [key, value] of Object.entries(globals))
    Object.defineProperty(globalThis, key, { value, configurable: true, writable: true });
  if (name === 'react18') {
    jest.unstable_mockModule('react', () => import(name) as Promise<object>);
    // for react-dom, which requires it
    jest.mock('react', () => jest.requireActual(name));
  }
  const { default: react } = (await import(name)) as { default: typeof React };
  const { default: client } = (await import(`${domName}/client`)) as { default: typeof ReactDomClient };
  const { default: server } = (await import(`${domName}/server`)) as { default: typeof ReactDomServer };
  const act = async (change: () => unknown): Promise<void> => {
    await react.act(async () => {
      await change();
    });
  };
  const untilShown = async (condition: () => boolean): Promise<void> => {
    Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
    await until(condition).finally(() => {
      Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
    });
  };
  const show = async (element: React.ReactNode, isStrict = true): Promise<Shown> => {
    const host = document.createElement('div');
    const root = client.createRoot(host);
    const render = (next: React.ReactNode): Promise<void> =>
      act(() => {
        root.render(react.createElement(isStrict ? react.StrictMode : react.Fragment, null, next));
      });
    await render(element);
    return {
      text: () => host.textContent,
      render,
      unmount: () =>
        act(() => {
          root.unmount();
        }),
    };
  };
  return {
    ...{ react, server, act, until: untilShown, show },
    hooks: await import('../../src/react/index.js'),
    testing: await import('../../src/react/testing/index.js'),
  };
}
