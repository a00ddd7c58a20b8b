import { Component, effect, ElementRef, inject, untracked, viewChild, type OnDestroy } from '@angular/core';
import uPlot from 'uplot';
import { numeral } from '../shell/numbers';
import { Theme } from '../shell/theme';
import { rangeOf, ticksUpTo } from './rate-scale';
import { Samples } from './samples';

const height = 64;

/** A chart of the rate and the lag of the last five minutes. */
@Component({
  selector: 'app-rate-chart',
  template: `<div #canvas role="img" aria-label="Updates per second and lag of the last five minutes"></div>`,
  styles: `
    :host {
      display: block;
      min-width: 0;
      overflow: hidden;
    }
  `,
})
export class RateChart implements OnDestroy {
  readonly #samples = inject(Samples);
  readonly #theme = inject(Theme);
  readonly #host = inject<ElementRef<HTMLElement>>(ElementRef).nativeElement;
  private readonly canvas = viewChild.required<ElementRef<HTMLElement>>('canvas');
  readonly #resized = new ResizeObserver(() => this.#chart?.setSize({ width: this.#host.clientWidth, height }));
  #chart: uPlot | undefined;

  constructor() {
    this.#resized.observe(this.#host);
    effect(() => {
      // the chart reads its colours when it is created, so it is created again for another theme
      this.#theme.isDark();
      this.#chart?.destroy();
      const element = this.canvas().nativeElement;
      // untracked, since new samples must not create another chart
      this.#chart = untracked(() => new uPlot(this.#options(), [[], [], []], element));
    });
    effect(() => {
      this.#theme.isDark();
      const samples = this.#samples.all();
      const columns: uPlot.AlignedData = [
        samples.map(({ at }) => at),
        samples.map(({ rate }) => rate),
        samples.map(({ lag }) => lag),
      ];
      this.#chart?.setData(columns);
    });
  }

  ngOnDestroy(): void {
    this.#resized.disconnect();
    this.#chart?.destroy();
  }

  #options(): uPlot.Options {
    const colour = (name: string): string => colourOf(this.#host, name);
    const now = (): number => Date.now() / 1_000;
    return {
      width: this.#host.clientWidth,
      height,
      padding: [6, 0, 5, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        // the range grows with the samples in the first minutes
        x: { range: () => [now() - Math.max(60, this.#samples.all().length), now()] },
        y: { distr: 4, asinh: 1, range: () => rangeOf(this.#samples.all().map(({ rate }) => rate)) },
        lag: { range: (_, __, max) => [0, Math.max(20, max * 1.1)] },
      },
      axes: [
        { show: false },
        {
          stroke: colour('--chart-text'),
          font: '10px system-ui',
          size: 44,
          gap: 2,
          splits: (_, __, ___, highest) => ticksUpTo(highest),
          // on such a scale it would leave out all but the decades
          filter: (_, splits) => splits,
          values: (_, splits) => splits.map(numeral),
          grid: { stroke: colour('--chart-grid'), width: 1 },
          ticks: { show: false },
        },
      ],
      series: [
        {},
        { stroke: colour('--chart-rate'), fill: colour('--chart-fill'), width: 1.5, points: { show: false } },
        { scale: 'lag', stroke: colour('--chart-lag'), width: 1, dash: [3, 3], points: { show: false } },
      ],
    };
  }
}

/** The value of a colour of the style sheet in the current theme. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}
