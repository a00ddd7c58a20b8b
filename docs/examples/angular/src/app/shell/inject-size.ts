import { DestroyRef, ElementRef, inject, signal, type Signal } from '@angular/core';

/** The size of an element in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of the component's element, which changes with the panel and the bars above as well as with the screen. */
export function injectSize(): Signal<Size> {
  const element = inject<ElementRef<HTMLElement>>(ElementRef).nativeElement;
  const size = signal<Size>({ width: element.clientWidth || window.innerWidth, height: element.clientHeight });
  const observer = new ResizeObserver(() => size.set({ width: element.clientWidth, height: element.clientHeight }));
  observer.observe(element);
  inject(DestroyRef).onDestroy(() => observer.disconnect());
  return size.asReadonly();
}
