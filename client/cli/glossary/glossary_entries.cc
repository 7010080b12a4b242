#include "client/cli/glossary/cited_works.h"
#include "client/cli/glossary/glossary.h"

namespace epsledger::cli {

namespace {

std::vector<GlossaryEntry> Words() {
  using enum GlossaryEntry::Kind;
  return {
      // Why a charge is refused.
      {kRefusal, "budget-exhausted",
       "A cap on the way from the session to the root budget has no room for the charge. Nothing "
       "was charged anywhere.",
       "Ask for at most the steps that fit, which the refusal names, or for more noise; or have "
       "the budget superseded by one with another cap.",
       "the filter of the limiting cap: `budget get` shows its theorem"},
      {kRefusal, "budget-frozen",
       "Somebody froze a budget on the way up. Its state_reason says why.",
       "Wait until it is thawed (`budget thaw`), then charge with a new charge id: a refusal "
       "stays with its key.",
       ""},
      {kRefusal, "closed", "A budget on the way up, or the session, was closed for good.",
       "Use another session or budget.", ""},
      {kRefusal, "not-in-plan",
       "The session is DECLARED, and the event, or that many of it, is not in the plan that was "
       "charged when it was created.",
       "Charge what the plan holds (`session get` shows the tickets left), or open another "
       "session with another plan.",
       "a plan is composed once, without adaptivity: any other event would void that"},
      {kRefusal, "attempt-fenced",
       "A newer attempt of the session was opened: this process is no longer the one that trains.",
       "Charge under the newest attempt (`session get` shows its number), or stop.", ""},
      {kRefusal, "event-not-chargeable",
       "The event has no finite cost in the currency of a cap on the way up: a sampled Gaussian "
       "under a mu cap, for example, or a nonPrivate one under any cap that promises something.",
       "Use an event that the currency can count, or a budget in another currency.", ""},
      {kRefusal, "batch-refused", "Another item of an ALL_OR_NOTHING batch was refused.",
       "Look at the other items, or send the batch with `--mode per-item`.", ""},
      {kRefusal, "policy-violation",
       "A policy on the way up does not allow what the attempt declares, such as its sampler, or "
       "the attempt declares nothing.",
       "Open an attempt that declares what `policy get` wants: --sampler, --clip-norm, --library, "
       "--library-version and --normalizer.",
       ""},
      {kRefusal, "budget-superseded", "A budget on the way up was replaced by another one.",
       "Open a session under the successor, which `budget get` names.", ""},

      // Accountants.
      {kAccountant, "basic", "Adds up epsilons and deltas. Always true, seldom tight.", "",
       "Dwork, Roth 2014, Thm 3.16"},
      {kAccountant, "advanced",
       "Epsilon grows like the square root of the number of steps, at the price of a delta.", "",
       "Dwork, Rothblum, Vadhan 2010, Thm III.3"},
      {kAccountant, "optimal", "The best bound for events of which only (epsilon, delta) is known.",
       "", "Kairouz, Oh, Viswanath 2015, Thm 3.3; Murtagh, Vadhan 2016, Thm 1.5"},
      {kAccountant, "renyi",
       "Adds up Renyi divergences at every order and converts at the best one.", "",
       "Mironov 2017, Prop 1; Canonne, Kamath, Steinke 2020, Prop 12"},
      {kAccountant, "moments",
       "The moments accountant: integer log-moments up to 32 and a tail bound.", "",
       "Abadi et al. 2016, Thm 2"},
      {kAccountant, "moments-holder",
       "The moments accountant for several releases on one sample, combined by Hoelder's "
       "inequality.",
       "", "Abadi et al. 2016, Thm 2; Hoelder's inequality"},
      {kAccountant, "moments-as-published",
       "MOMENTS_HOLDER with the combination as printed, which is not proved: its number is no "
       "bound.",
       "Use MOMENTS_HOLDER for a bound.", "Zhou, Qian 2022"},
      {kAccountant, "zcdp", "Adds up rho of zero-concentrated DP. Sampling gains nothing.", "",
       "Bun, Steinke 2016, Lemma 1.7; Canonne, Kamath, Steinke 2020, Prop 12"},
      {kAccountant, "gaussian",
       "Adds up mu squared: exact, from both sides, for Gaussian events without sampling.", "",
       "Dong, Roth, Su 2019, Cor 3.3; Balle, Wang 2018, Thm 8"},
      {kAccountant, "clt",
       "The central limit of many small steps. An APPROXIMATION: it may be below the truth, and "
       "never wins.",
       "", "Dong, Roth, Su 2019, Thm 3.5"},
      {kAccountant, "pld",
       "Composes privacy loss distributions numerically, with its error inside the bounds.", "",
       "Zhu, Dong, Wang 2022, Thm 10; Doroshenko et al. 2022"},
      {kAccountant, "trade-off", "Composes trade-off functions and bounds what tests can tell.", "",
       "Dong, Roth, Su 2019, Thm 3.2 and Prop 2.12"},
      {kAccountant, "best",
       "The smallest proved upper bound of all accountants that know every event. An "
       "approximation never wins.",
       "", "the theorem of the winner"},

      // Events that can be charged.
      {kEvent, "gaussian",
       "Normal noise on a sum. The noise multiplier is its standard deviation over the largest "
       "contribution of one record.",
       "", "Balle, Wang 2018, Thm 8"},
      {kEvent, "laplace", "Laplace noise on a sum.", "", "Dwork, McSherry, Nissim, Smith 2006"},
      {kEvent, "discrete-gaussian", "The discrete Gaussian on an integer query.", "",
       "Canonne, Kamath, Steinke 2020"},
      {kEvent, "discrete-laplace", "The geometric mechanism on an integer query.", "",
       "Ghosh, Roughgarden, Sundararajan 2012"},
      {kEvent, "randomized-response",
       "With probability noiseParameter a uniform one of numBuckets values, else the truth.", "",
       ""},
      {kEvent, "exponential-mechanism",
       "Selects by exponential weights; accounted as bounded range, better than pure DP.", "",
       "Durfee, Rogers 2019; Dong, Durfee, Rogers 2020, Sec 3"},
      {kEvent, "permute-and-flip",
       "Selection that is epsilon-DP and never worse than the "
       "exponential mechanism.",
       "", "McKenna, Sheldon 2020"},
      {kEvent, "pure-dp", "Any (epsilon, 0)-DP mechanism.", "",
       "Dwork, McSherry, Nissim, Smith 2006"},
      {kEvent, "approximate-dp", "Any (epsilon, delta)-DP mechanism.", "",
       "Kairouz, Oh, Viswanath 2015, Thm 3.1"},
      {kEvent, "zcdp", "Any mechanism with Renyi divergence <= xi + rho a at every order a > 1.",
       "", "Bun, Steinke 2016"},
      {kEvent, "gaussian-dp", "Any mu-GDP mechanism.", "", "Dong, Roth, Su 2019"},
      {kEvent, "renyi-curve", "Any mechanism whose Renyi divergences are bounded at these orders.",
       "", "Mironov 2017; van Erven, Harremoes 2014"},
      {kEvent, "trade-off-curve",
       "Any mechanism whose trade-off function is at least the interpolation of these points.", "",
       "Dong, Roth, Su 2019"},
      {kEvent, "mixture-of-gaussians",
       "A Gaussian release in which a record moves the mean by a random amount.", "", ""},
      {kEvent, "poisson-sampled",
       "An event on a batch that holds each record independently with the same probability, as "
       "DP-SGD assumes.",
       "Draw batches that way: no amplification is charged for shuffled ones.",
       "Mironov, Talwar, Zhang 2019, Thm 4; Zhu, Dong, Wang 2022, Thm 11"},
      {kEvent, "truncated-poisson-sampled",
       "Poisson sampling whose batch is cut off at a largest "
       "size.",
       "", ""},
      {kEvent, "sampled-without-replacement", "An event on a uniform subset of fixed size.", "",
       "Wang, Balle, Kasiviswanathan 2019, Thm 27"},
      {kEvent, "sampled-with-replacement", "An event on independent uniform draws.", "",
       "Balle, Barthe, Gaboardi 2018"},
      {kEvent, "random-allocation",
       "Each record takes part in a fixed number of rounds, chosen at random.", "",
       "Feldman, Shenfeld 2025, Lemma 3.2"},
      {kEvent, "composed", "A sequence of events.", "", ""},
      {kEvent, "self-composed", "Several uses of one event.", "", ""},
      {kEvent, "tree-aggregation",
       "Running sums by a binary tree of Gaussian noise, each record in at most one leaf.", "",
       "one Gaussian release of sqrt(height) contributions"},
      {kEvent, "banded-matrix-factorization",
       "Correlated Gaussian noise with a banded matrix, under cyclic Poisson sampling.", "", ""},
      {kEvent, "matrix-mechanism",
       "A whole run with noise that is correlated over its steps by a matrix, each unit in several "
       "of them.",
       "The schedule must keep to the least separation: nothing checks it.",
       "accounting/matrix/README.md; Kalinin, Lampert 2024, Thm 2"},
      {kEvent, "repeat-and-select",
       "The best of a random number of runs, as in a hyper-parameter search that publishes one.",
       "", "Papernot, Steinke 2022, Thm 2"},
      {kEvent, "unverified-claim",
       "An (epsilon, delta) that somebody claims. It composes like a proven one, and every "
       "guarantee that contains it says so.",
       "", ""},
      {kEvent, "report-noisy-max",
       "The index of the largest of several scores with independent noise: Laplace, exponential "
       "(permute-and-flip) or Gumbel (the exponential mechanism).",
       "", "accounting/analytics/README.md, \"Noisy maxima\""},
      {kEvent, "above-threshold",
       "The sparse vector technique: says of each query whether it is above a noisy threshold, "
       "until "
       "a number of them are. Only those cost.",
       "", "Lyu, Su, Li 2017, Algorithm 1"},
      {kEvent, "partition-selection",
       "A partition (a key, with its noisy size) that is released if the noisy size reaches a "
       "threshold, so that a key of one unit hardly ever shows.",
       "Count one use for each partition of a unit.",
       "accounting/analytics/README.md, \"Partitions\""},
      {kEvent, "truncated-geometric-selection",
       "A key that is released with the largest probability that (epsilon, delta)-DP allows.",
       "Count one use for each partition of a unit.", "Desfontaines, Voss, Gipson, Mandayam 2022"},
      {kEvent, "dominating-pair",
       "Any mechanism that is dominated by a pair of output laws on up to 10,000 outcomes, given "
       "as numbers.",
       "", "accounting/profile/README.md"},
      {kEvent, "shuffled",
       "Reports of a local randomizer in random order: one report hides among the others.", "",
       "Feldman, McMillan, Talwar 2021"},
      {kEvent, "non-private", "A release without privacy: every epsilon is infinite from then on.",
       "", ""},

      // Terms.
      {kTerm, "epsilon",
       "In (epsilon, delta)-DP, every set of outcomes has on one data set a probability of at most "
       "e^epsilon times its probability on a neighboring one, plus delta. Smaller is more private.",
       "", "Dwork, McSherry, Nissim, Smith 2006"},
      {kTerm, "delta",
       "In (epsilon, delta)-DP, what is added to e^epsilon times the other probability. Choose it "
       "far below one over the number of privacy units.",
       "", "Dwork, Roth 2014, Def 2.4"},
      {kTerm, "mu",
       "Gaussian DP: telling two neighbors apart is at least as hard as N(0, 1) from N(mu, 1). "
       "mu squared adds up.",
       "", "Dong, Roth, Su 2019, Cor 3.3"},
      {kTerm, "rho",
       "Zero-concentrated DP: the Renyi divergence of order a is at most rho a, for all a > 1.", "",
       "Bun, Steinke 2016"},
      {kTerm, "zcdp", "Zero-concentrated DP, whose quantity is rho. It adds up.", "",
       "Bun, Steinke 2016, Lemma 1.7"},
      {kTerm, "renyi-divergence",
       "How far two output distributions are apart, at an order above 1. It adds up at each order, "
       "and "
       "converts to (epsilon, delta).",
       "", "Mironov 2017; Canonne, Kamath, Steinke 2020, Prop 12"},
      {kTerm, "rdp",
       "Renyi DP: the Renyi divergence at an order above 1 is at most a number. The accountant "
       "RENYI adds it up at every order.",
       "", "Mironov 2017"},
      {kTerm, "gdp",
       "Gaussian DP, whose quantity is mu: telling two neighbors apart is at least as hard as "
       "telling N(0, 1) from N(mu, 1).",
       "", "Dong, Roth, Su 2019"},
      {kTerm, "dp-sgd",
       "Training that draws a random batch, clips what each record contributes to the gradient, "
       "and adds Gaussian noise to the sum. A step is the event poissonSampled of gaussian.",
       "Charge each step before its noise is drawn; draw batches by Poisson sampling.",
       "Abadi et al. 2016"},
      {kTerm, "clip-norm",
       "The largest contribution of one record: what is longer is scaled down to it. The noise "
       "multiplier is relative to it.",
       "", "Abadi et al. 2016"},
      {kTerm, "accountant",
       "A method that bounds the epsilon of a history of events. Each one that knows all events "
       "gives a bound of its own; BEST takes the smallest that is proved.",
       "`compare` shows all of them.", ""},
      {kTerm, "amplification",
       "What secrecy of the sample gains: an event on a random batch spends less than the same "
       "event on all records. It is charged only for ways of sampling with a proof.",
       "Use the event that says how batches are drawn: poissonSampled, "
       "sampledWithoutReplacement, ...",
       "Balle, Barthe, Gaboardi 2018"},
      {kTerm, "subsampling",
       "Running an event on a random part of the records. Poisson sampling takes each record "
       "independently with the same probability.",
       "", "Balle, Barthe, Gaboardi 2018"},
      {kTerm, "annotation",
       "Something that people say about a budget or session for official forms, such as the data "
       "domain. The ledger keeps the words and who recorded them, and decides nothing by them.",
       "`annotation set` records it, statements and `statement export` show it.", ""},
      {kTerm, "sign-off",
       "The record that a person answers for a signed statement. Charges after the entry that the "
       "statement knew are not part of it.",
       "`statement sign-off` records it.", ""},
      {kTerm, "statement",
       "A signed account of what a budget or session guarantees, for others to check: `statement "
       "get`.",
       "`statement verify` checks a saved one, `statement check` whether it is the newest.", ""},
      {kTerm, "tenant",
       "One of several owners of a server. A token belongs to one tenant and sees only the budgets "
       "of that tenant.",
       "`server whoami` shows yours.", ""},
      {kTerm, "neighbors",
       "Two data sets that differ in one privacy unit, as the neighboring relation says. The "
       "guarantee is that they are hard to tell apart.",
       "", "Dwork, McSherry, Nissim, Smith 2006"},
      {kTerm, "cap",
       "What a budget may spend, in one currency: (epsilon, delta), pure epsilon, rho, mu, a Renyi "
       "divergence, units of a reference, or a trade-off curve. It never changes.",
       "`budget supersede` replaces a budget by one with another cap.", ""},
      {kTerm, "canary",
       "A record that an auditor puts into the data or leaves out. How well an attack tells which "
       "one happened gives a lower bound on epsilon.",
       "`audit` computes the bound.", "Steinke, Nasr, Jagielski 2023"},
      {kTerm, "noise-multiplier",
       "Noise standard deviation over the largest contribution of one record, its clip norm.", "",
       ""},
      {kTerm, "sampling-probability", "The chance of each record to be in a batch.", "", ""},
      {kTerm, "privacy-unit",
       "What one neighbor differs in: a person, a device-day. The guarantee is for one of them.",
       "", ""},
      {kTerm, "neighboring-relation",
       "Which data sets count as neighbors: one unit added or removed, one replaced, or one "
       "replaced by a public empty record.",
       "", ""},
      {kTerm, "budget",
       "A cap over one population of privacy units, shared by all sessions below. It may have a "
       "parent, which every charge enters too.",
       "", ""},
      {kTerm, "session", "One training run under a budget.", "", ""},
      {kTerm, "attempt",
       "One life of a session's process. Opening the next attempt fences the earlier ones, so that "
       "no step from a checkpoint goes uncounted.",
       "", ""},
      {kTerm, "charge",
       "One row of the ledger: an event, a count and a decision. Its key makes it happen at most "
       "once.",
       "", ""},
      {kTerm, "lease",
       "A block of steps charged up front and spent without asking. Nothing is returned.", "", ""},
      {kTerm, "declared",
       "A session that commits to its plan first. The plan is composed once, tightly, and charged "
       "in full.",
       "", ""},
      {kTerm, "adaptive",
       "A session whose parameters may depend on earlier outputs. Only privacy filters gate it.",
       "", "Rogers, Roth, Ullman, Vadhan 2016"},
      {kTerm, "filter",
       "A rule that stops an adaptive history before its cap is exceeded, with a proof that the "
       "cap then holds.",
       "",
       "Rogers, Roth, Ullman, Vadhan 2016; Feldman, Zrnic 2021, Thm 4.3; Whitehouse et al. 2023, "
       "Thm 4"},
      {kTerm, "residue",
       "A filter that counts units of one reference event. While k units are left, an event may "
       "cost c of them if the event, followed by k - c uses of the reference, is no worse than k "
       "uses: nothing that is chosen later can then exceed what the units promise. `budget get` "
       "shows them as UNITS.",
       "Name the step that most sessions repeat when the budget is created (`budget create "
       "--gaussian "
       "...`), or let the first session say what it expects.",
       "after arXiv 2602.15815; accounting/filter/README.md has the theorem and its proof"},
      {kTerm, "reference",
       "The event that a cap counts units of. It is fixed with the first charge at the latest: by "
       "whoever creates the budget, by what the first session expects, or by the first charge.",
       "", ""},
      {kTerm, "unit",
       "One use of the reference that is still to be spent. A cap may be a number of units "
       "(`budget create --units`): it promises the whole curve of that many uses, not one epsilon.",
       "", "accounting/filter/README.md, \"A cap in units\""},
      {kTerm, "block",
       "Uses that are paid together before the first of them runs: `--count`. A block of cheap "
       "steps "
       "usually costs fewer units than its steps one by one.",
       "", ""},
      {kTerm, "portfolio",
       "Several filters with fixed shares of delta: units of a reference, mu of Gaussian DP, and "
       "Renyi orders. A charge is accepted while one of them can pay. A filter that cannot pay a "
       "charge pays none from then on.",
       "", "accounting/filter/README.md, \"Some order of a grid\""},
      {kTerm, "odometer", "A running reading of what was spent. It describes, and does not decide.",
       "", "Rogers, Roth, Ullman, Vadhan 2016"},
      {kTerm, "privacy-profile", "Delta as a function of epsilon.", "",
       "Balle, Barthe, Gaboardi 2018"},
      {kTerm, "trade-off-function",
       "The smallest type II error of a membership test at each type I error.", "",
       "Dong, Roth, Su 2019"},
      {kTerm, "advantage",
       "The largest difference between the true and the false positive rate of a membership test: "
       "delta at epsilon 0, the total variation distance.",
       "", "accounting/trade_off/README.md, \"Attacks\""},
      {kTerm, "true-positive-rate",
       "The share of members that a membership test finds. At a false positive rate it is at most "
       "1 "
       "minus the trade-off function there: TPR at FPR.",
       "`epsctl attack --fpr` bounds it.", "Dong, Roth, Su 2019"},
      {kTerm, "false-positive-rate",
       "The share of non-members that a membership test takes for members: its type I error.", "",
       "Dong, Roth, Su 2019"},
      {kTerm, "bayes-success",
       "The largest probability that a membership attack is right, if the record is in the data "
       "set "
       "with a known prior probability. 1 minus it is the Bayes risk.",
       "`epsctl attack --prior` bounds it.", "accounting/trade_off/README.md, \"Attacks\""},
      {kTerm, "reconstruction",
       "Guessing a record from the output when all other records are known. If no guess without "
       "the output succeeds with a probability above the baseline, none with it succeeds with more "
       "than 1 minus the trade-off function at the baseline.",
       "`epsctl attack --baseline` bounds it.",
       "Hayes, Mahloujifar, Balle 2023; Balle, Cherubin, Hayes 2022"},
      {kTerm, "attribute-inference",
       "Reconstruction of one attribute of a record whose other attributes are known. The baseline "
       "is the prior probability of its most likely value.",
       "`epsctl attack --baseline` bounds it.", "accounting/trade_off/README.md, \"Attacks\""},
      {kTerm, "regret",
       "What is lost by stating one mu instead of a trade-off curve: how far the curve must be "
       "moved, in both errors, until that of mu covers it.",
       "", "Kaissis, Kolek, Balle, Hayes 2024, Thm 2"},
      {kTerm, "upper-bound", "A number that the truth does not exceed, rounding included.", "", ""},
      {kTerm, "lower-bound", "A number that the truth is not below, rounding included.", "", ""},
      {kTerm, "approximation",
       "A number that may be on either side of the truth. It decides "
       "nothing.",
       "", ""},
      {kTerm, "policy",
       "What attempts must declare for their claims to be charged: samplers, provenance, divisors.",
       "`policy get` shows it.", ""},
      {kTerm, "normalizer",
       "The number that a noisy sum is divided by. If it depends on the data, neighboring data "
       "sets "
       "can have different ones, which no charge covers.",
       "Divide by a number that was fixed without the data, and declare it with --normalizer.", ""},
      {kTerm, "supersede",
       "Replacing a budget by one with another cap that starts with everything spent so far. The "
       "guarantee of the old one is void.",
       "", ""},

      // Exit codes of epsctl.
      {kExitCode, "0", "Done; for a charge or preview: accepted.", "", ""},
      {kExitCode, "1",
       "The server failed or does not serve, an accountant has no answer, a question was not "
       "answered with yes; for compute: some line failed.",
       "Read the message.", ""},
      {kExitCode, "2", "The command line, or a value in it, is wrong.",
       "Read the message; --help has an example.", ""},
      {kExitCode, "3",
       "Refused by a budget, a plan, a policy or a newer attempt; for a preview: it would be.",
       "Fewer steps, more noise, another budget: `explain` the reason that was printed.", ""},
      {kExitCode, "4",
       "Unknown: the write may have happened. It counts as done until a repetition says "
       "otherwise.",
       "Repeat the command as it is; for a charge with the --charge-id that was printed.", ""},
      {kExitCode, "5", "Not found.", "`list` shows what there is.", ""},
  };
}

std::vector<GlossaryEntry> WordsAndWorks() {
  std::vector<GlossaryEntry> entries = Words();
  const std::vector<GlossaryEntry> works = CitedWorks();
  entries.insert(entries.end(), works.begin(), works.end());
  return entries;
}

}  // namespace

const std::vector<GlossaryEntry>& Glossary() {
  static const auto& entries = *new std::vector<GlossaryEntry>(WordsAndWorks());
  return entries;
}

}  // namespace epsledger::cli
