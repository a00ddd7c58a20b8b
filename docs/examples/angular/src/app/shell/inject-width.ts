import { DestroyRef, ElementRef, inject, signal, type Signal } from '@angular/core';

/** The width of the component's element in pixels, which changes with the panel as well as with the screen. */
export function injectWidth(): Signal<number> {
  const element = inject<ElementRef<HTMLElement>>(ElementRef).nativeElement;
  const width = signal(element.clientWidth || window.innerWidth);
  const observer = new ResizeObserver(() => width.set(element.clientWidth));
  observer.observe(element);
  inject(DestroyRef).onDestroy(() => observer.disconnect());
  return width.asReadonly();
}
