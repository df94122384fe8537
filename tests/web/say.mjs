// What a test says: "ok CLAIM" and "not ok CLAIM: why" lines (tools/run_tests counts them), and remarks with the time.
export function claims(prefix = '') {
  let failures = 0;
  const started = Date.now();
  return {
    say(claim, problem) {
      if (problem) failures++;
      console.log(problem ? `not ok ${prefix}${claim}: ${String(problem).replaceAll('\n', ' ').slice(0, 2000)}` : `ok ${prefix}${claim}`);
    },
    note: (text) => console.log(`# ${((Date.now() - started) / 1000).toFixed(1)} s: ${prefix}${text}`),
    end: () => { process.exitCode = failures ? 1 : 0; },
  };
}
