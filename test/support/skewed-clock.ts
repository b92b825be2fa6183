/** Preloaded into a process (`--import`): shifts its clock by CLOCK_SKEW_MS, as on a host with a wrong clock. */
const skewMs = Number(process.env.CLOCK_SKEW_MS ?? 0);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number | string]) {
    super(...((given.length === 0 ? [RealDate.now() + skewMs] : given) as [number]));
  }

  static override now(): number {
    return RealDate.now() + skewMs;
  }
} as DateConstructor;
