//! `noise`: what do a runtime's own watching and counting cost a workload that needs neither?
//!
//! The rounds of `yield_many`, judged by the CPU time of the whole process.

use crate::cases::yields;
use crate::outcome::Verdict;
use crate::plan::Plan;
use crate::rounds::Judge;
use crate::rt::Tasks;

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    yields::many_tasks_by::<R>(plan, Judge::Cpu)
}
