//! The processor that the programs of a kernel node see: this machine's, or a level that many machines have.
//!
//! Programs choose their code by what the processor can do: the C library its string functions and the folders in which it looks for
//! libraries, OpenSSL and OpenBLAS theirs. So the same lab gives other bytes on another processor. A [`CpuLevel`] hides what lies beyond it:
//!
//! - in `/proc/cpuinfo`, and in `AT_HWCAP` of the auxiliary vector: the shim shows the kernel such a machine (`shim/processor.c`);
//! - in the C library, OpenSSL, Go's library and OpenBLAS, by [variables](environment) that they read.
//!
//! What stays visible is the instruction CPUID itself: to deny it to programs needs a processor that faults on it. A program that asks the
//! processor, and has no variable of its own, finds all of it.

use netloom_units::CpuLevel;

/// All levels, the lowest first.
const LEVELS: [CpuLevel; 4] = [CpuLevel::V1, CpuLevel::V2, CpuLevel::V3, CpuLevel::V4];

/// Returns the argument of a kernel's command line that shows its programs a processor of this level.
#[must_use]
pub fn argument(level: CpuLevel) -> String {
    format!("netloom.cpu={}", level.name())
}

/// Features of glibc that come with a level, by their names in its tunable `glibc.cpu.hwcaps`; those that it does not know it ignores.
fn hidden_at(level: CpuLevel) -> &'static [&'static str] {
    match level {
        CpuLevel::V1 => &[],
        CpuLevel::V2 => &["SSSE3", "SSE4_1", "SSE4_2", "POPCNT", "CMPXCHG16B", "LAHF64_SAHF64"],
        CpuLevel::V3 => &["XSAVE", "XSAVEC", "AVX", "AVX2", "BMI1", "BMI2", "F16C", "FMA", "LZCNT", "MOVBE"],
        CpuLevel::V4 => &["AVX512F", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512VL"],
    }
}

/// Features that belong to no level, but to processors of some makers.
const HIDDEN_ALWAYS: &[&str] = &["ERMS", "FSRM", "RTM", "FMA4", "AVX_VNNI"];

/// Lengths, in bytes, from which on glibc copies in another way; it would take them from the sizes of caches.
const CACHE_TUNABLES: &[(&str, u32)] = &[
    ("x86_data_cache_size", 32 << 10),
    ("x86_shared_cache_size", 1 << 20),
    ("x86_non_temporal_threshold", 3 << 18),
    ("x86_rep_movsb_threshold", 2 << 10),
    ("x86_rep_stosb_threshold", 2 << 10),
];

fn glibc_tunables(level: CpuLevel) -> String {
    let beyond = LEVELS.into_iter().filter(|other| *other > level).flat_map(hidden_at);
    let hidden: Vec<String> = HIDDEN_ALWAYS.iter().chain(beyond).map(|feature| format!("-{feature}")).collect();
    let caches = CACHE_TUNABLES.iter().map(|(name, bytes)| format!(":glibc.cpu.{name}={bytes}"));
    format!("glibc.cpu.hwcaps={}{}", hidden.join(","), caches.collect::<String>())
}

/// Leaf 1 of CPUID (ECX above EDX), and EBX of leaf 7, as OpenSSL's `OPENSSL_ia32cap` takes them.
fn openssl_words(level: CpuLevel) -> (u64, u64) {
    const EDX: u64 = 0x078b_fbff;
    match level {
        CpuLevel::V1 => (EDX, 0),
        CpuLevel::V2 => (0x0098_2201 << 32 | EDX, 0),
        CpuLevel::V3 => (0x3cd8_3201 << 32 | EDX, 0x128),
        CpuLevel::V4 => (0x3cd8_3201 << 32 | EDX, 0xd003_0128),
    }
}

/// The kernel that OpenBLAS chooses at a level.
fn openblas_core(level: CpuLevel) -> &'static str {
    match level {
        CpuLevel::V1 => "Prescott",
        CpuLevel::V2 => "Nehalem",
        CpuLevel::V3 => "Haswell",
        CpuLevel::V4 => "SkylakeX",
    }
}

/// Returns the variables that hide from libraries what a processor of this level does not have. Go's library is told to use nothing beyond
/// what its programs were compiled for: its own names for features differ between versions.
#[must_use]
pub fn environment(level: CpuLevel) -> [(&'static str, String); 4] {
    let (first, seventh) = openssl_words(level);
    [
        ("GLIBC_TUNABLES", glibc_tunables(level)),
        ("GODEBUG", "cpu.all=off".to_owned()),
        ("OPENBLAS_CORETYPE", openblas_core(level).to_owned()),
        ("OPENSSL_ia32cap", format!("{first:#x}:{seventh:#x}")),
    ]
}

/// Features of this machine's processor by the level with which they come.
#[cfg(target_arch = "x86_64")]
fn has_step(level: CpuLevel) -> Vec<(&'static str, bool)> {
    macro_rules! has {
        ($($feature:tt)*) => { vec![$(($feature, is_x86_feature_detected!($feature))),*] };
    }
    match level {
        CpuLevel::V1 => Vec::new(),
        CpuLevel::V2 => has!("cmpxchg16b" "popcnt" "sse3" "sse4.1" "sse4.2" "ssse3"),
        CpuLevel::V3 => has!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "xsave"),
        CpuLevel::V4 => has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn has_step(_level: CpuLevel) -> Vec<(&'static str, bool)> {
    vec![("x86-64", false)]
}

/// Returns a feature of this level that this machine's processor lacks; none if it has the level.
#[must_use]
pub fn missing(level: CpuLevel) -> Option<&'static str> {
    let steps = LEVELS.into_iter().filter(|step| *step <= level).flat_map(has_step);
    steps.into_iter().find(|(_, has)| !has).map(|(feature, _)| feature)
}

/// Returns the highest level that this machine's processor has; none if it is no x86-64 processor.
#[must_use]
pub fn of_this_machine() -> Option<CpuLevel> {
    LEVELS.into_iter().rev().find(|level| missing(*level).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_hides_what_lies_beyond_it_and_nothing_of_its_own() {
        for (at, level) in LEVELS.into_iter().enumerate() {
            let tunables = glibc_tunables(level);
            for (other_at, other) in LEVELS.into_iter().enumerate() {
                for feature in hidden_at(other) {
                    let hides = tunables.split([',', ':', '=']).any(|word| word == format!("-{feature}"));
                    assert_eq!(hides, other_at > at, "{feature} of {level:?} and {other:?}");
                }
            }
        }
        assert_eq!(environment(CpuLevel::V2)[3].1, "0x982201078bfbff:0x0");
    }

    #[test]
    fn this_machine_has_all_levels_up_to_its_own() {
        let own = of_this_machine();
        for level in LEVELS {
            assert_eq!(missing(level).is_none(), own.is_some_and(|own| level <= own), "{level:?}");
        }
    }
}
