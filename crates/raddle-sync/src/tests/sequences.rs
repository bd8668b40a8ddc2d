//! Every sequence of operations up to a length: the small worlds in which a primitive is compared
//! with a model of a few lines.

/// Calls `run` with every sequence of `length` numbers below `choices`.
pub(crate) fn every_sequence(choices: usize, length: u32, mut run: impl FnMut(&[usize])) {
    let mut sequence = vec![0; length as usize];
    for number in 0..choices.pow(length) {
        let mut rest = number;
        for place in &mut sequence {
            *place = rest % choices;
            rest /= choices;
        }
        run(&sequence);
    }
}

#[test]
fn every_sequence_comes_once() {
    let mut all = std::collections::BTreeSet::new();
    every_sequence(3, 4, |sequence| assert!(all.insert(sequence.to_vec())));
    assert_eq!(all.len(), 81);
}
